import { readCounts } from './counts.ts'
import { ceilingsTable } from './needs.ts'

/** `npm run ceilings`: prints the needs of steady loads (docs/capacity.md#ceilings). */

process.stdout.write(`${ceilingsTable(readCounts())}\n`)
