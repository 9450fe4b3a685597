import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCounts } from './counts.ts'
import { ceilingsTable } from './needs.ts'

/** `npm run ceilings`: prints the table of docs/capacity.md#ceilings, and replaces it. */

const PAGE = join(import.meta.dirname, '../../docs/capacity.md')

const table = ceilingsTable(readCounts())
const page = readFileSync(PAGE, 'utf8')
writeFileSync(
  PAGE,
  page.replace(/^\| Component \| Has \|.*?\n(?=\n)/ms, () => `${table}\n`),
)
process.stdout.write(`${table}\n`)
