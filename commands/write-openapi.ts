import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { descriptionFiles } from '../sdk/openapi/document.ts'
import { wireFiles, wireTypes } from '../sdk/openapi/wire-types.ts'

/**
 * `npm run openapi`: regenerates the descriptions of the API and of the protocol for banks, and the
 * wire types of the TypeScript client.
 */

process.chdir(join(import.meta.dirname, '..'))

for (const [file, text] of Object.entries(descriptionFiles())) await writeFile(file, text)

for (const [file, description] of Object.entries(wireFiles)) {
  await writeFile(file, await wireTypes(description))
}
