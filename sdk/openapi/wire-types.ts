import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The wire types of the TypeScript client, each file with its source. */
export const wireFiles = {
  'sdk/typescript/src/wire.ts': 'docs/openapi.json',
  'sdk/typescript/src/bank-wire.ts': 'docs/bank-protocol.json',
}

/** Generates the types of the schemas of a description with Redocly. */
export const wireTypes = async (description: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'wire-'))
  try {
    const client = join(folder, 'client.ts')
    const mode = ['--output-mode', 'split']
    const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    await promisify(execFile)(
      'node_modules/.bin/redocly',
      ['generate-client', description, '-o', client, ...mode],
      { env: { ...process.env, ...quiet } },
    )
    return await readFile(join(folder, 'client.schemas.ts'), 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}
