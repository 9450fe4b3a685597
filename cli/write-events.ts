import { writeFileSync } from 'node:fs'
import { sampleFiles } from './sample-events.ts'

/** `npm run events`: writes the sample events of the API's functions anew. */

for (const [name, text] of Object.entries(sampleFiles())) {
  writeFileSync(new URL(`../events/${name}.json`, import.meta.url), text)
}
