"""The tables and figures of Maung, Lazar and Zheng as studies that can be run, stopped and resumed."""
