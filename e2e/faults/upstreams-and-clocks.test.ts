import { describeFaults } from './harness/describe-suite.ts';
import { nameServerSilent } from './scenarios/upstream-names.ts';
import { upstreamsAndClocks } from './suites/upstreams-and-clocks.ts';

// A silent name server takes long to be given up; name-cache.test.ts has what happens meanwhile.
const scenarios = upstreamsAndClocks.scenarios.filter((one) => one !== nameServerSilent);

describeFaults({ ...upstreamsAndClocks, scenarios }, 2000);
