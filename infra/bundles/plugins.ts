import { readFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { dirname } from 'node:path'
import type { Loader, Plugin } from 'esbuild'

/**
 * Loads Node's own modules by `process.getBuiltinModule`. An ES import of node:http reads every export,
 * and some of them load a WebSocket client, which costs 22 ms of a cold start.
 */
export const nodeModules: Plugin = {
  name: 'node-modules',
  setup: ({ onResolve, onLoad }) => {
    const names = new RegExp(`^(?:node:.+|${builtinModules.join('|')})$`)
    onResolve({ filter: names }, ({ path }) => ({
      path: path.startsWith('node:') ? path : `node:${path}`,
      namespace: 'node-modules',
    }))
    onLoad({ filter: /./, namespace: 'node-modules' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}

type Replacement = {
  file: RegExp
  /** The new source, or a function of the old one. */
  by: string | ((source: string) => string)
  loader?: Loader
}

/** @throws Error when the source no longer contains the passage */
const cut = (passage: RegExp, by: string) => (source: string) => {
  const rest = source.replaceAll(passage, by)
  if (rest === source) throw new Error(`Passage not found: ${passage}`)
  return rest
}

const replacements: Replacement[] = [
  {
    // Lambda sets credentials in the environment. The chain includes clients for other sources.
    file: /@aws-sdk\/credential-provider-node\/dist-es\/index\.js$/,
    by: `export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env'`,
  },
  {
    // Lambda has no ~/.aws.
    file: /@smithy\/core\/dist-es\/.*\/loadSharedConfigFiles\.js$/,
    by: `export { CONFIG_PREFIX_SEPARATOR } from './constants'
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} })`,
  },
  {
    // No operation in use returns an event stream.
    file: /@smithy\/core\/dist-es\/.*\/HttpProtocol\.js$/,
    by: cut(/await import\("@smithy\/core\/event-streams"\)/g, '{}'),
  },
  {
    // The Lambda client sets up event streams for operations that are not used.
    file: /@smithy\/core\/dist-es\/submodules\/event-streams\/index\.js$/,
    by: `export const resolveEventStreamSerdeConfig = (config) => config
      export const eventStreamSerdeProvider = () => undefined`,
  },
  {
    // DynamoDB has one endpoint per Region, so endpoint discovery is not needed.
    file: /@aws-sdk\/endpoint-cache\/dist-es\/index\.js$/,
    by: 'export class EndpointCache {}',
  },
  {
    // A client only reads its version.
    file: /@aws-sdk\/[a-z0-9-]+\/package\.json$/,
    by: (source) => JSON.stringify({ version: JSON.parse(source).version }),
    loader: 'json',
  },
  {
    // The letters of JSON5 identifiers.
    file: /@humanwhocodes\/momoa\/dist\/momoa\.js$/,
    by: cut(/^const (ID_Start|ID_Continue) = \/.*\/;$/gm, 'const $1 = /(?!)/;'),
  },
  {
    // Only the client and the agent: no fetch, WebSocket or cache.
    file: /undici\/index\.js$/,
    by: `const Dispatcher = require('./lib/dispatcher/dispatcher')
      Dispatcher.prototype.request = require('./lib/api/api-request')
      exports.Client = require('./lib/dispatcher/client')
      exports.Agent = require('./lib/dispatcher/agent')`,
  },
  {
    // HTTP/2, the bodies of fetch, and the parser for processors without SIMD.
    file: /undici\/lib\/web\/|undici\/lib\/dispatcher\/client-h2\.js$|llhttp\/llhttp-wasm\.js$/,
    by: 'module.exports = undefined',
  },
]

/** Replaces package files that no function needs and tree shaking cannot remove (docs/bundles.md#pruned-files). */
export const pruned: Plugin = {
  name: 'pruned',
  setup: ({ onLoad }) => {
    for (const { file, by, loader = 'js' } of replacements) {
      onLoad({ filter: file }, async ({ path }) => ({
        contents: typeof by === 'string' ? by : by(await readFile(path, 'utf8')),
        resolveDir: dirname(path),
        loader,
      }))
    }
  },
}
