import { writeFileSync } from 'node:fs'
import { sampleFiles } from './sample-events.ts'

/** `npm run events`: regenerates the sample events of the API's functions. */

for (const [name, text] of Object.entries(sampleFiles())) {
  writeFileSync(new URL(`../events/${name}.json`, import.meta.url), text)
}
