"""Forests as estimators: scikit-learn's checks."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from dipolar import DipoleSurvivalForest, LogRankSurvivalForest


@parametrize_with_checks(
    [
        LogRankSurvivalForest(n_estimators=5, oob_score=False),
        DipoleSurvivalForest(n_estimators=5, min_samples_leaf=3, min_samples_split=6),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
