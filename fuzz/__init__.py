"""Generated inputs for everything that dipolar offers: what goes wrong is found, recorded and can be run again.

draw            random choices of one case, from its seed
rows, settings  what they make: data, and estimators
answers, relations
                what has to hold of the answers of a model, and between those of two
tables          files of rows, with odd cells and damaged bytes
models, scores, files, commands
                the targets: what is called
faults          what counts as a fault
cases           one case of one target, run to its end
worker, pool    processes that run cases, and whoever survives their deaths
journal, summary, run
                what is kept, what is told, and the command
"""
