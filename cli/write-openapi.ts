import { writeFileSync } from 'node:fs'
import { openApiText } from '../openapi/document.ts'

/** `npm run openapi`: regenerates docs/openapi.json. */

writeFileSync(new URL('../docs/openapi.json', import.meta.url), openApiText())
