import { CHUNKS } from './testing/cases/chunks.ts';
import { CONNECTION_FIELDS } from './testing/cases/connection-fields.ts';
import { CONTENT_LENGTH } from './testing/cases/content-length.ts';
import { EXCHANGES } from './testing/cases/exchanges.ts';
import { HEADS } from './testing/cases/heads.ts';
import { HOSTS } from './testing/cases/host.ts';
import { TRANSFER_ENCODING } from './testing/cases/transfer-encoding.ts';
import { runSuite } from './testing/suites.ts';

runSuite({ name: 'the length of a body', cases: CONTENT_LENGTH });
runSuite({ name: 'transfer codings', cases: TRANSFER_ENCODING });
runSuite({ name: 'chunks', cases: CHUNKS });
runSuite({ name: 'hosts', cases: HOSTS });
runSuite({ name: 'heads', cases: HEADS });
runSuite({ name: 'fields of a connection', cases: CONNECTION_FIELDS });
runSuite({ name: 'exchanges', cases: EXCHANGES });
