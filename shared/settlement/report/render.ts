import { CURRENCY, formatAmount, pesewas } from '../../domain/money.ts'
import {
  addLine,
  type Batch,
  type Line,
  noTotals,
  type Totals,
} from '../../domain/settlement/batch.ts'
import type { ReportFormat } from '../../domain/settlement/list-query.ts'
import { batchView, lineView, type SettlementReport, totalsView } from '../../views/batch.ts'
import { csvRecord, guarded } from './csv.ts'
import { memberOf } from './json.ts'

export type Lines = Iterable<Line> | AsyncIterable<Line>

/**
 * Renders the report of a batch (docs/api.md#settlement-reports), reading each line only when its
 * text is consumed, so memory stays constant.
 * @throws Error before the last chunk if the lines do not add up to the batch's totals
 */
export const render = (format: ReportFormat, batch: Batch, lines: Lines) =>
  format === 'json' ? json(batch, lines) : csv(batch, lines)

const member = memberOf<SettlementReport>()

async function* json(batch: Batch, lines: Lines): AsyncGenerator<string, void, undefined> {
  let totals = noTotals
  yield `{\n${member('batch', batchView(batch))},\n"${'lines' satisfies keyof SettlementReport}": [`
  for await (const line of lines) {
    yield `${totals.count > 0 ? ',' : ''}\n${JSON.stringify(lineView(line))}`
    totals = addLine(totals, line)
  }
  checkTotals(batch, totals)
  yield `\n],\n${member('totals', totalsView(totals, formatAmount))}\n}\n`
}

type ColumnSums = Record<'gross' | 'fee' | 'net', number>

/** Returns the last record, with the sums of its columns; its keys are the columns. */
const totalFields = (sums: ColumnSums): Record<keyof ReturnType<typeof lineView>, string> => ({
  type: 'total',
  reference: '',
  partner_reference: '',
  bank_reference: '',
  completed_at: '',
  gross: formatAmount(pesewas(sums.gross)),
  fee: formatAmount(pesewas(sums.fee)),
  net: formatAmount(pesewas(sums.net)),
  currency: CURRENCY,
})

/** A header, the lines, and a record with the column sums. */
async function* csv(batch: Batch, lines: Lines): AsyncGenerator<string, void, undefined> {
  let totals = noTotals
  const sums = { gross: 0, fee: 0, net: 0 }
  const columns = Object.keys(totalFields(sums)) as (keyof ReturnType<typeof lineView>)[]
  yield csvRecord(columns)
  for await (const line of lines) {
    const fields = lineFields(line)
    yield csvRecord(columns.map((column) => fields[column]))
    totals = addLine(totals, line)
    sums.gross += line.gross
    sums.fee += line.fee
    sums.net += line.net
  }
  checkTotals(batch, totals)
  yield csvRecord(Object.values(totalFields(sums)))
}

const lineFields = (line: Line) => {
  const view = lineView(line)
  return {
    ...view,
    partner_reference: guarded(view.partner_reference),
    bank_reference: guarded(view.bank_reference ?? ''),
  }
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
