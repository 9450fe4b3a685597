import { writeFileSync } from 'node:fs'
import { descriptionFiles } from '../openapi/document.ts'

/** `npm run openapi`: regenerates the descriptions of the API and of the protocol for banks. */

for (const [file, text] of Object.entries(descriptionFiles())) {
  writeFileSync(new URL(`../${file}`, import.meta.url), text)
}
