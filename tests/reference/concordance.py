"""Harrell's concordance by looking at every pair."""


def count_pairs(time, event, risk, weight):
    """Weight of concordant, discordant and tied comparable pairs."""
    concordant = discordant = tied = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            earlier = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if not (event[i] and earlier):
                continue
            pair = weight[i] * weight[j]
            if risk[i] > risk[j]:
                concordant += pair
            elif risk[i] < risk[j]:
                discordant += pair
            else:
                tied += pair
    return concordant, discordant, tied
