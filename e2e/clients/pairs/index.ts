import type { Pair } from '../harness/pair.ts';
import { apollo } from './apollo.ts';
import { apt } from './apt.ts';
import { skopeo } from './container-registry.ts';
import { curl } from './curl.ts';
import { digestPairs } from './digest.ts';
import { elasticsearch } from './elasticsearch.ts';
import { git } from './git.ts';
import { java } from './java.ts';
import { mcp, mcpTwoUpstreams } from './mcp.ts';
import { npm } from './npm.ts';
import { octokit } from './octokit.ts';
import { oidcProvider, oidcProviderCompressed, oidcProviderRotation } from './oidc-provider.ts';
import { openai } from './openai.ts';
import { otlp } from './otlp.ts';
import { pouchdb } from './pouchdb.ts';
import { s3Pairs } from './s3.ts';
import { socketIo, socketIoTwoUpstreams } from './socket-io.ts';
import { stripe } from './stripe.ts';
import { tusPairs } from './tus.ts';
import { webdavPairs } from './webdav.ts';

/** Pairs that are quick, of packages that are installed with the repository. */
export const QUICK: readonly Pair[] = [
  stripe,
  openai,
  elasticsearch,
  octokit,
  socketIo,
  socketIoTwoUpstreams,
  mcp,
  mcpTwoUpstreams,
  otlp,
  oidcProvider,
  oidcProviderCompressed,
];

/** Pairs that wait, that need programs of the system, or whose packages are large. */
export const LONG: readonly Pair[] = [
  git,
  apt,
  curl,
  java,
  apollo,
  pouchdb,
  oidcProviderRotation,
  ...tusPairs,
  npm,
  skopeo,
  ...digestPairs,
  ...webdavPairs,
  ...s3Pairs,
];
