import { writeFileSync } from 'node:fs'
import { openApiText } from '../openapi/document.ts'

/** `npm run openapi`: writes docs/openapi.json anew. */

writeFileSync(new URL('../docs/openapi.json', import.meta.url), openApiText())
