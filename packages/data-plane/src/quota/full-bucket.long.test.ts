import { afterEach, beforeEach } from '@jest/globals';
import { startNatsCluster, type NatsCluster } from '@gateway/testing/nats-cluster';
import { UndoList } from '@gateway/shared/test/undo-list';
import { describeFullBucket } from '../../test/quota/full-bucket-suite.ts';

let cluster: NatsCluster;
let undo: UndoList;
beforeEach(async () => {
  undo = new UndoList();
  cluster = await startNatsCluster();
  undo.add(() => cluster.close());
});
afterEach(() => undo.run());

describeFullBucket('a bucket of quotas with three replicas that callers fill', {
  url: () => cluster.url,
  replicas: 3,
  dataPlanes: 3,
  defer: (close) => undo.add(close),
});
