import { describeFaults } from './harness/describe-suite.ts';
import { controlPlaneKilled } from './scenarios/control-plane-killed.ts';
import { processes } from './suites/stores-and-processes.ts';

// A control plane that is killed between insert and acknowledgement is killed as well.
const scenarios = processes.scenarios.filter((scenario) => scenario !== controlPlaneKilled);

describeFaults({ ...processes, scenarios }, 1500);
