import { basename } from 'node:path'
import { type BulkId, isProgress, PART_REFERENCES } from '../domain/operator/bulk.ts'
import { Refusal } from '../domain/refusal.ts'
import { parseInput } from '../domain/validation.ts'
import type { FileParts, LineError } from './csv-file.ts'
import { reconciliation } from './nouns/accounting.ts'
import type { LongResults, ResultOf } from './results.ts'
import type { AskStatement, ReplyTo } from './statement-file.ts'
import { explain, type OperatorReply } from './verbs.ts'

/** A call of a verb, as the operator command or the console has it. */
export type NounCall = {
  noun: string
  verb: string
  options: Record<string, string>
  /** The operator to act as, in a sandbox only. */
  operator?: string | undefined
}

/** Invokes the function of the noun. @throws Error in one line if it does not exist, is denied or fails */
export type Operate = (call: NounCall) => Promise<OperatorReply>

/** The file of a call, and the display of its progress. */
type LongCall = {
  file?: FileParts | undefined
  onProgress?: ((processed: number, total?: number) => void) | undefined
  /** Prints lines of the file that are refused. */
  onRefused?: ((line: string) => void) | undefined
}

/** Makes the calls that a verb needs, and throws a RefusedCall or a MalformedFile. */
type LongVerb = (call: NounCall, operate: Operate, long: LongCall) => Promise<OperatorReply>

class RefusedCall extends Error {}

const resultIn = <T>(reply: OperatorReply): T => {
  if ('error' in reply) throw new RefusedCall(reply.error)
  return reply.result as T
}

/** Repeats the call: a check of a large day takes several calls. */
const reconcile = async (call: NounCall, operate: Operate) => {
  for (let { options } = call; ; ) {
    const reply = await operate({ ...call, options })
    const result = resultIn<ResultOf<'reconciliation', 'run'>>(reply)
    if (!('run' in result)) return { result: result satisfies LongResults['run'] }
    options = { ...call.options, run: result.run }
  }
}

/** Reconciles the day first, and passes the differences; none of a day that cannot be reconciled yet. */
const closeDay: LongVerb = async (call, operate) => {
  const { date = '' } = call.options
  const run = { noun: 'reconciliation', verb: 'run', options: { date } }
  const reconciled = await reconcile(run, operate).catch((error: Error) => {
    if (!(error instanceof RefusedCall)) throw error
  })
  if (!reconciled) return operate(call)
  const found = reconciled.result.invariants
    .filter(({ differences }) => differences > 0)
    .map(({ number, title, differences, examples: [example] }) => ({
      ...{ number, title, differences },
      example: example ? `${example.subject} ${example.difference}` : null,
    }))
  return operate({ ...call, options: { ...call.options, reconciled: JSON.stringify(found) } })
}

/** Returns the file of the operator command and its name, or that of the console, which passes bytes as characters. */
const fileIn = (text: string, { file }: LongCall): { parts: FileParts; name: string } => ({
  parts: file ?? [Buffer.from(text, 'latin1')],
  name: file ? basename(text) : '-',
})

const compare: LongVerb = async (call, operate, long) => {
  const parsed = parseInput(reconciliation.verbs.statement.options, call.options)
  if (parsed instanceof Refusal) return { error: explain(parsed) }
  // The packed command also runs on Node 20, which has none.
  if (!process.getBuiltinModule('node:sqlite')) return { error: 'A statement needs Node 22.13' }
  const { compareFile } = await import('./statement-file.ts')
  const ask: AskStatement = async (request) => {
    const options = { ...call.options, statement: JSON.stringify(request) }
    return resultIn<ReplyTo<typeof request>>(await operate({ ...call, options }))
  }
  const { parts } = fileIn(parsed.statement, long)
  const { report, ...rest } = await compareFile({ file: parts, date: parsed.date }, ask)
  return { result: { ...report, ...rest } satisfies LongResults['statement'] }
}

/** Repeats the call until each object has its outcome, or the call waits for an approval. */
const finish: LongVerb = async (call, operate, { onProgress }) => {
  for (let { options } = call; ; ) {
    const reply = await operate({ ...call, options })
    if ('error' in reply || !isProgress(reply.result)) return reply
    const { bulk, processed, total } = reply.result
    onProgress?.(processed, total)
    // A grant names the request.
    if (call.noun !== 'approval') options = { ...options, bulk }
  }
}

/** Repeats the call until it returns no cursor. After a fault, returns what was done until then. */
const inParts =
  <T>(
    join: (whole: T, part: T) => T,
    processedOf: (whole: T) => number | undefined = () => undefined,
  ): LongVerb =>
  async (call, operate, { onProgress }) => {
    let whole: T | undefined
    for (let { options } = call; ; ) {
      const reply = await operate({ ...call, options }).catch((error: Error) => {
        if (!whole) throw error
        return { error: error.message }
      })
      if (whole && 'error' in reply) {
        return { result: whole, next_cursor: options.cursor, fault: reply.error }
      }
      const part = resultIn<T>(reply)
      whole = whole ? join(whole, part) : part
      const cursor = 'next_cursor' in reply ? reply.next_cursor : undefined
      if (!cursor) return { result: whole }
      const processed = processedOf(whole)
      if (processed !== undefined) onProgress?.(processed)
      options = { ...options, cursor }
    }
  }

const repairDay = inParts<ResultOf<'debit', 'repair'>>(
  (whole, part) => ({
    ...part,
    looked_at: whole.looked_at + part.looked_at,
    repaired: [...whole.repaired, ...part.repaired],
    unreadable: [...whole.unreadable, ...part.unreadable],
  }),
  ({ looked_at }) => looked_at,
)

const countRequests = inParts<ResultOf<'exception', 'summary'>>((whole, part) => ({
  ...part,
  refund: sumOf(whole.refund, part.refund),
  complaint: sumOf(whole.complaint, part.complaint),
}))

const sumOf = <T extends Record<string, number>>(one: T, other: T): T =>
  Object.fromEntries(
    Object.entries(one).map(([name, count]) => [name, count + (other[name] ?? 0)]),
  ) as T

/** Rows of a file, with the other options of their upload. */
type UploadPart = {
  rows: readonly unknown[]
  options?: Record<string, string>
  refused?: LineError[]
}

/** Uploads the rows of the file in parts, if the call has one, then runs the call. */
const withUpload =
  (read: (file: FileParts, call: NounCall) => AsyncIterable<UploadPart>): LongVerb =>
  async (call, operate, long) => {
    const { file: text, ...others } = call.options
    if (text === undefined || others.bulk !== undefined) return finish(call, operate, long)
    const { parts, name } = fileIn(text, long)
    let bulk: BulkId | undefined
    let [n, processed] = [0, 0]
    for await (const { rows, options: own, refused = [] } of read(parts, call)) {
      const options = { ...own, ...(bulk && { bulk }), n: String(n), rows: JSON.stringify(rows) }
      const reply = await operate({ ...call, verb: 'upload', options })
      bulk = resultIn<ResultOf<'customer' | 'exception', 'upload'>>(reply).bulk
      for (const { line, reason } of refused) long.onRefused?.(`line ${line}: ${reason}`)
      n += 1
      processed += rows.length
      if (n % 20 === 0) long.onProgress?.(processed)
    }
    const options = { ...others, file: name, bulk: String(bulk) }
    return finish({ ...call, options }, operate, long)
  }

const onDebits = withUpload(async function* (file) {
  const { readReferences } = await import('./references-file.ts')
  const references = await readReferences(file)
  for (let start = 0; start < references.length; start += PART_REFERENCES) {
    yield { rows: references.slice(start, start + PART_REFERENCES) }
  }
})

const importCustomers = withUpload(async function* (file, { options: { bank = '' } }) {
  const { readCustomers } = await import('./customers-file.ts')
  for await (const part of readCustomers(file)) {
    yield { ...part, options: { bank, refused: String(part.refused.length) } }
  }
})

/** Reads the holidays of a file. */
const setCalendar: LongVerb = async (call, operate, long) => {
  const { file: text = '', year = '' } = call.options
  const { readCalendar } = await import('./calendar-file.ts')
  const { parts, name } = fileIn(text, long)
  const days = JSON.stringify(await readCalendar(year, parts))
  return operate({ ...call, options: { year, file: name, days } })
}

const longVerbs: Record<string, LongVerb> = {
  'reconciliation run': reconcile,
  'reconciliation statement': compare,
  'day close': closeDay,
  'exception refund': onDebits,
  'exception resolve': onDebits,
  'customer import': importCustomers,
  'debit repair': repairDay,
  'exception summary': countRequests,
  'calendar set': setCalendar,
  'approval grant': finish,
}

/** Runs a verb for the console and the operator command, also one that takes several calls. */
export const operateFully = async (
  call: NounCall,
  operate: Operate,
  long: LongCall = {},
): Promise<OperatorReply> => {
  const name = `${call.noun} ${call.verb}`
  const perform = Object.hasOwn(longVerbs, name) ? longVerbs[name] : undefined
  if (!perform) return operate(call)
  try {
    return await perform(call, operate, long)
  } catch (error) {
    if (error instanceof RefusedCall) return { error: error.message }
    const { MalformedFile } = await import('./csv-file.ts')
    if (!(error instanceof MalformedFile)) throw error
    return { error: `--${call.verb === 'statement' ? 'statement' : 'file'}: ${error.message}` }
  }
}
