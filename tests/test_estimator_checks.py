"""scikit-learn's own checks of every estimator, as it is by default and with the settings that lead to other code."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from dipolar import (
    CovariateEncoder,
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
)
from tests.models import forest_of

# The data of the checks are small: with these limits there is something to split in them.
LOOSE = {"min_samples_split": 6, "min_samples_leaf": 3, "min_logrank": 0.0}


@parametrize_with_checks(
    [
        CovariateEncoder(),
        CovariateEncoder(missing="keep", reference="first", dates="days"),
        DipoleSVM(),
        DipoleSurvivalTree(),
        LogRankSurvivalTree(),
        SurvivalTreeCV(param_grid={"svm__kappa": [1, 100]}, cv=2, random_state=0),
        SurvivalTreeCV(LogRankSurvivalTree(), max_depth=None, cv=2, random_state=0),
        LogRankSurvivalForest(n_estimators=5),
        LogRankSurvivalForest(n_estimators=5, **LOOSE),
        LogRankSurvivalForest(n_estimators=3, criterion="exponential", max_leaf_nodes=4, max_features=None),
        DipoleSurvivalForest(n_estimators=5),
        DipoleSurvivalForest(n_estimators=5, **LOOSE),
        forest_of(n_estimators=3, kernel=("linear", "quadratic", "rbf"), cut="svm", max_samples=0.7),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
