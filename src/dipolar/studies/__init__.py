"""The paper's tables and figures as studies that can be run, stopped and resumed; see `dipolar reproduce`."""

from dipolar.studies.catalogue import STUDIES, get_study
from dipolar.studies.journal import Journal, read_journal
from dipolar.studies.runner import run_units
from dipolar.studies.study import Study
from dipolar.studies.unit import StudyError, Unit, seed_of

__all__ = ["STUDIES", "Journal", "Study", "StudyError", "Unit", "get_study", "read_journal", "run_units", "seed_of"]
