import { createDemoUpstream } from './server.ts';

const port = Number(process.env['DEMO_UPSTREAM_PORT'] ?? 8082);
const server = createDemoUpstream();
server.once('error', (error) => {
  process.stderr.write(`demo-upstream cannot start: ${error.message}\n`);
  process.exit(1);
});
server.listen(port, '127.0.0.1', () => process.stdout.write(`listening on port ${port}\n`));

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}
