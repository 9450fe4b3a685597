import { CURRENCY, formatAmount, pesewas } from '../../domain/money.ts'
import {
  addLine,
  type Batch,
  type Line,
  noTotals,
  type Totals,
} from '../../domain/settlement/batch.ts'
import type { ReportFormat } from '../../domain/settlement/list-query.ts'
import { batchView, lineView, totalsView } from '../../views/batch.ts'
import { csvRecord, guarded } from './csv.ts'

export type Lines = Iterable<Line> | AsyncIterable<Line>

/**
 * Renders the report of a batch (docs/api.md#settlement-reports), reading each line only when its
 * text is consumed, so memory stays constant.
 * @throws Error before the last chunk if the lines do not add up to the batch's totals
 */
export const render = (format: ReportFormat, batch: Batch, lines: Lines) =>
  format === 'json' ? json(batch, lines) : csv(batch, lines)

async function* json(batch: Batch, lines: Lines): AsyncGenerator<string, void, undefined> {
  let totals = noTotals
  yield `{\n"batch": ${JSON.stringify(batchView(batch))},\n"lines": [`
  for await (const line of lines) {
    yield `${totals.count > 0 ? ',' : ''}\n${JSON.stringify(lineView(line))}`
    totals = addLine(totals, line)
  }
  checkTotals(batch, totals)
  yield `\n],\n"totals": ${JSON.stringify(totalsView(totals))}\n}\n`
}

const COLUMNS = [
  'type',
  'reference',
  'partner_reference',
  'bank_reference',
  'completed_at',
  'gross',
  'fee',
  'net',
  'currency',
] as const satisfies (keyof ReturnType<typeof lineView>)[]

/** A header, the lines, and a record with the column sums. */
async function* csv(batch: Batch, lines: Lines): AsyncGenerator<string, void, undefined> {
  let totals = noTotals
  const sums = { gross: 0, fee: 0, net: 0 }
  yield csvRecord(COLUMNS)
  for await (const line of lines) {
    yield csvRecord(lineFields(line))
    totals = addLine(totals, line)
    sums.gross += line.gross
    sums.fee += line.fee
    sums.net += line.net
  }
  checkTotals(batch, totals)
  const amounts = [sums.gross, sums.fee, sums.net].map((sum) => formatAmount(pesewas(sum)))
  yield csvRecord(['total', '', '', '', '', ...amounts, CURRENCY])
}

const lineFields = (line: Line): string[] => {
  const view = lineView(line)
  const text = {
    ...view,
    partner_reference: guarded(view.partner_reference),
    bank_reference: guarded(view.bank_reference ?? ''),
  }
  return COLUMNS.map((column) => text[column])
}

const checkTotals = (batch: Batch, totals: Totals): void => {
  const sealed = batch.totals
  if (!sealed) return
  const differing = (Object.keys(totals) as (keyof Totals)[]).filter(
    (name) => totals[name] !== sealed[name],
  )
  if (differing.length > 0) {
    throw new Error(`The lines of ${batch.id} do not add up to its ${differing.join(', ')}`)
  }
}
