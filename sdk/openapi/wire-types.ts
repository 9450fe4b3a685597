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

type DescribedSchemas = { components: { schemas: Record<string, { 'x-final'?: string[] }> } }

/** Returns the final values of each schema that has some, such as `finalDebitStatuses`. */
const finalValues = ({ components }: DescribedSchemas): string =>
  Object.entries(components.schemas)
    .flatMap(([name, { 'x-final': values }]) =>
      values ? `\nexport const final${name}es = ${JSON.stringify(values)} as const;\n` : [],
    )
    .join('')

/** Generates the types of the schemas of a description with Redocly, and the constants of final values. */
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
    const types = await readFile(join(folder, 'client.schemas.ts'), 'utf8')
    // Redocly writes a v before the version.
    return types.replace('(vv', '(v') + finalValues(JSON.parse(await readFile(description, 'utf8')))
  } finally {
    await rm(folder, { recursive: true })
  }
}
