"""galpha: constrained mechatronic systems by generalized-α and collocation.

Models in files:    run, static, kinematics, modes, linearize, check, write; load opens results
Many runs:          sweep, sensitivity, fit, optimize
Machines by parts:  Machine
Your own equations: System

    import galpha
    res = galpha.run("pendulum.yaml", t_end=2, set={"m": 3})
    res["hinge.angle"], res.unit("hinge.angle"), res.plot("hinge.angle")
"""

from ._commands import Outcome, command
from ._library import version
from ._settings import about as settings
from .analyses import LinearModel, Modes, Report, check, kinematics, linearize, modes, run, static, write
from .errors import Error, GalphaWarning, Interrupted, Message, ModelError, reasons
from .machine import Machine
from .results import Event, Result, load
from .searches import Constraint, Curves, Fit, Optimum, Parameter, fit, optimize
from .studies import Gradient, Table, sensitivity, sweep
from .system import Crossing, Jacobian, Point, Retry, Simulation, Solution, State, System

__version__ = version()
__all__ = ["Constraint", "Crossing", "Curves", "Error", "Event", "Fit", "GalphaWarning", "Gradient", "Interrupted", "Jacobian",
           "LinearModel", "Machine", "Message", "ModelError", "Modes", "Optimum", "Outcome", "Parameter", "Point", "Report",
           "Result", "Retry", "Simulation", "Solution", "State", "System", "Table", "check", "command", "fit", "kinematics",
           "linearize", "load", "modes", "optimize", "reasons", "run", "sensitivity", "settings", "static", "sweep", "version",
           "write"]
