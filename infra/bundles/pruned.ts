import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Loader, Plugin } from 'esbuild'

/**
 * Packages carry what no function of ours comes to, and it cannot be shaken off: it is named where
 * it might be needed. Each such file is replaced by as much of it as is used here.
 */

type Replacement = {
  file: RegExp
  /** In place of it; a function is given what was there. */
  by: string | ((source: string) => string)
  loader?: Loader
}

/** @throws Error when a package was changed, and what is to be cut is no more there */
const cut =
  (passage: RegExp, by: string) =>
  (source: string): string => {
    const rest = source.replaceAll(passage, by)
    if (rest === source) throw new Error(`Passage not found: ${passage}`)
    return rest
  }

const replacements: Replacement[] = [
  {
    // Lambda hands credentials over in the environment. The chain would look into files, other
    // processes and the network too, and brings their clients with it.
    file: /@aws-sdk\/credential-provider-node\/dist-es\/index\.js$/,
    by: `export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env'`,
  },
  {
    // Settings come from the environment too: there is no ~/.aws on Lambda to be read.
    file: /@smithy\/core\/dist-es\/.*\/loadSharedConfigFiles\.js$/,
    by: `export { CONFIG_PREFIX_SEPARATOR } from './constants'
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} })`,
  },
  {
    // No operation that is called here answers with a stream of events.
    file: /@smithy\/core\/dist-es\/.*\/HttpProtocol\.js$/,
    by: cut(/await import\("@smithy\/core\/event-streams"\)/g, '{}'),
  },
  {
    // Neither does the operation of Lambda, whose client is set up for those that do.
    file: /@smithy\/core\/dist-es\/submodules\/event-streams\/index\.js$/,
    by: `export const resolveEventStreamSerdeConfig = (config) => config
      export const eventStreamSerdeProvider = () => undefined`,
  },
  {
    // DynamoDB has one endpoint per region: where it is need not be discovered and remembered.
    file: /@aws-sdk\/endpoint-cache\/dist-es\/index\.js$/,
    by: 'export class EndpointCache {}',
  },
  {
    // Each client names its version to AWS, and keeps its whole package.json for that.
    file: /@aws-sdk\/[a-z0-9-]+\/package\.json$/,
    by: (source) => JSON.stringify({ version: JSON.parse(source).version }),
    loader: 'json',
  },
  {
    // Which letters a name may have in JSON5, which is not read here.
    file: /@humanwhocodes\/momoa\/dist\/momoa\.js$/,
    by: cut(/^const (ID_Start|ID_Continue) = \/.*\/;$/gm, 'const $1 = /(?!)/;'),
  },
  {
    // A client for one socket, and an agent that makes some: no fetch, no WebSocket, no cache.
    file: /undici\/index\.js$/,
    by: `const Dispatcher = require('./lib/dispatcher/dispatcher')
      Dispatcher.prototype.request = require('./lib/api/api-request')
      exports.Client = require('./lib/dispatcher/client')
      exports.Agent = require('./lib/dispatcher/agent')`,
  },
  {
    // HTTP/2, bodies that only fetch has, and the parser for processors without SIMD.
    file: /undici\/lib\/web\/|undici\/lib\/dispatcher\/client-h2\.js$|llhttp\/llhttp-wasm\.js$/,
    by: 'module.exports = undefined',
  },
]

export const unused: Plugin = {
  name: 'unused',
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
