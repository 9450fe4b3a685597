import { isDeepStrictEqual } from 'node:util'
import { type Members, membersOf } from './calls.ts'
import type { ObservationIndex } from './observation-index.ts'
import { batchOf, differing } from './payload.ts'
import { linesIn, ownerIn, type RawBatch, type RawLine } from './raw-items.ts'
import { type Check, type Checks, eachBatch } from './rules.ts'
import { dayOf, inGhs, MINUTE_MS } from './time-and-money.ts'

/** What providers and operators read of batches: replies, reports and monthly statements. */

/** The last half hour, in which no batch changes. */
const READ_MS = 30 * MINUTE_MS

const READS = new Set([
  ...['get-settlement', 'list-settlements', 'get-settlement-report', 'get-monthly-statement'],
  'manage-settlement',
])

/** Returns the rows of a reply that show a batch. */
const batchesIn = (value: unknown): Members[] => {
  if (Array.isArray(value)) return value.flatMap(batchesIn)
  const members = membersOf(value)
  if ('payable_on' in members) return [members]
  return ['data', 'result', 'batch', 'batches'].flatMap((name) => batchesIn(members[name] ?? []))
}

const finalReads = ({ observations: { calls }, setup }: ObservationIndex) =>
  calls.filter(
    ({ name, at, reply }) =>
      READS.has(name) && at >= setup.endedAt - READ_MS && reply?.status === 200,
  )

/** A report keeps what its batch was when it was written. */
const LATER = new Set(
  'uuid status processed_at completed_at failed_at failure bank_reference paid made_good_by'.split(
    ' ',
  ),
)

const batchesShowTheirState: Check = (index, report) => {
  for (const { name, reply } of finalReads(index)) {
    for (const row of batchesIn(reply?.body)) {
      const batch = index.batches.get(String(row.id))
      const members = Object.entries(batch ? batchOf(batch.item) : {}).filter(
        ([member]) => name !== 'get-settlement-report' || !LATER.has(member),
      )
      const shown = members.map(([member]) => [member, row[member]])
      const wrong = differing(Object.fromEntries(shown), Object.fromEntries(members))
      if (wrong || !batch)
        report(String(row.id), `was read with another ${wrong ?? 'id'} by ${name}`)
    }
  }
}

/** The run of a day names as paid only what was paid when it replied. */
const runsShowWhatIsPaid: Check = ({ operatorCalls, batches }, report) => {
  for (const { noun, verb, call, result } of operatorCalls) {
    if (noun !== 'settlement' || verb !== 'run') continue
    for (const { id } of batchesIn(result.paid ?? [])) {
      const changes = batches.get(String(id))?.changes ?? []
      const isPaid = changes.some(
        ({ at, after }) => after?.status === 'completed' && at <= (call.reply?.at ?? 0),
      )
      if (!isPaid) report(String(id), 'is not paid, but its run names it as paid')
    }
  }
}

const sumOf = <T>(all: readonly T[], amountOf: (one: T) => number): number =>
  all.reduce((sum, one) => sum + amountOf(one), 0)

const rowOf = ({ gross, fee, ...line }: RawLine) => ({
  type: line.type,
  reference: line.reference,
  partner_reference: line.partnerReference,
  bank_reference: line.bankReference,
  completed_at: new Date(line.completedAt).toISOString(),
  gross: inGhs(gross),
  fee: inGhs(fee),
  net: inGhs(gross - fee),
  currency: 'GHS',
})

/** Returns the records of a report as JSON and as CSV. */
const reportsOf = ({ totals }: RawBatch, lines: readonly RawLine[]) => {
  const rows = lines.map(rowOf)
  const sums = {
    ...{ type: 'total', reference: '', partner_reference: '', bank_reference: '' },
    ...{ completed_at: '', gross: inGhs(sumOf(lines, ({ gross }) => gross)) },
    ...{ fee: inGhs(sumOf(lines, ({ fee }) => fee)), net: inGhs(totals?.net ?? 0) },
    currency: 'GHS',
  }
  const records = [...rows, sums].map((row) => Object.values(row).join(','))
  return {
    json: rows.map((row) => JSON.stringify(row)),
    csv: [Object.keys(sums).join(), ...records],
  }
}

const recordsIn = (format: string, text: string): string[] => {
  if (format === 'csv') return text.split('\r\n').filter(Boolean)
  return (JSON.parse(text).lines as object[]).map((line) => JSON.stringify(line))
}

/** A report has the lines of its batch. A restore leaves the reports of batches that it undoes. */
const reportsHaveTheirLines = eachBatch(({ item }, { observations, setup }) => {
  if (!item.reportedAt || setup.isRestored) return undefined
  const lines = observations.items.flatMap((chunk) =>
    chunk.entity === 'lines' && ownerIn(chunk.pk) === item.id ? linesIn(chunk) : [],
  )
  return Object.entries(reportsOf(item, lines)).map(([format, expected]) => {
    const key = `settlements/${item.provider}/${item.id}.${format}`
    const written = observations.reports.findLast((one) => one.key === key)?.text
    const isRight =
      written !== undefined &&
      isDeepStrictEqual(recordsIn(format, written).sort(), [...expected].sort())
    return !isRight && `has a ${format} report with other lines`
  })
})

const SUMS = ['gross', 'fee', 'adjustments', 'net'] as const

/** Reports whether a debit of a month, completed or reversed before its last day, has no line for it. */
const isLate = ({ observations }: ObservationIndex, provider: string, month: string): boolean => {
  const [year, number] = month.split('-').map(Number) as [number, number]
  const lastDay = new Date(Date.UTC(year, number, 0)).toISOString()
  return observations.items.some(
    ({ work, due }) => String(work).startsWith(`SETTLE#${provider}#`) && String(due) < lastDay,
  )
}

const statementsSumTheirBatches: Check = (index, report) => {
  const current = dayOf(index.setup.endedAt).slice(0, 7)
  for (const { name, caller, path, reply } of finalReads(index)) {
    if (name !== 'get-monthly-statement') continue
    const { data } = membersOf(reply?.body)
    const { fees, batches, ...statement } = membersOf(data)
    const own = [...index.batches.values()].flatMap(({ item }) =>
      item.provider === caller?.id && item.date.startsWith(String(path.month)) ? [item] : [],
    )
    const sums = SUMS.map((sum) => [sum, inGhs(sumOf(own, ({ totals }) => totals?.[sum] ?? 0))])
    const expected = {
      provider: caller?.id,
      month: path.month,
      currency: 'GHS',
      partial:
        path.month === current ||
        own.some(({ totals }) => totals === null) ||
        isLate(index, String(caller?.id), String(path.month)),
      count: sumOf(own, ({ totals }) => totals?.count ?? 0),
      debits: sumOf(own, ({ totals }) => totals?.debits ?? 0),
      ...Object.fromEntries(sums),
      paid: inGhs(sumOf(own, ({ completedAt, paid }) => (completedAt ? (paid ?? 0) : 0))),
    }
    const wrong = differing(statement, expected)
    const rows = [fees ?? []].flat() as Members[]
    const fee = inGhs(sumOf(rows, (row) => Math.round(Number(row.fee) * 100)))
    const isWhole = batchesIn(batches ?? []).length === own.length && fee === statement.fee
    if (wrong || !isWhole)
      report(`${caller?.id} ${path.month}`, `has a statement with another ${wrong ?? 'batch'}`)
  }
}

export const checks: Checks = {
  75: [batchesShowTheirState, runsShowWhatIsPaid, reportsHaveTheirLines, statementsSumTheirBatches],
}
