import { describeFaults } from './harness/describe-suite.ts';
import { nameServerSilent } from './scenarios/upstream-names.ts';
import { upstreamsAndClocks } from './suites/upstreams-and-clocks.ts';

// A silent name server takes too long for this suite; name-cache.test.ts tests that case.
const scenarios = upstreamsAndClocks.scenarios.filter((one) => one !== nameServerSilent);

describeFaults({ ...upstreamsAndClocks, scenarios }, 2000);
