import { basename } from 'node:path'
import { type BulkId, isProgress, PART_REFERENCES } from '../../shared/domain/operator/bulk.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { parseInput } from '../../shared/domain/validation.ts'
import type { FileParts } from '../../shared/operator/csv-file.ts'
import { reconciliation } from '../../shared/operator/nouns/accounting.ts'
import type { ResultOf } from '../../shared/operator/results.ts'
import type { AskStatement, ReplyTo } from '../../shared/operator/statement-file.ts'
import { explain, type OperatorReply } from '../../shared/operator/verbs.ts'
import type { ConsoleBackend, ConsoleCall, LongResults } from './backend.ts'

type Operate = ConsoleBackend['operate']

/** The file of a call, and the display of its progress. */
export type LongCall = {
  file?: FileParts | undefined
  onProgress?: ((processed: number, total?: number) => void) | undefined
  /** Prints lines of the file that are refused. */
  onRefused?: ((line: string) => void) | undefined
}

/** Repeats the call: a check of a large day takes several calls. */
const reconcile = async (call: ConsoleCall, operate: Operate): Promise<OperatorReply> => {
  for (let { options } = call; ; ) {
    const reply = await operate({ ...call, options })
    if ('error' in reply) return reply
    const result = reply.result as ResultOf<'reconciliation', 'run'>
    if (!('run' in result)) return { result: result satisfies LongResults['run'] }
    options = { ...call.options, run: result.run }
  }
}

/** Reconciles the day first, and passes the differences. */
const closeDay = async (call: ConsoleCall, operate: Operate): Promise<OperatorReply> => {
  const { date = '' } = call.options
  const run = { noun: 'reconciliation', verb: 'run', options: { date } }
  const reply = await reconcile(run, operate)
  if ('error' in reply) return reply
  const { invariants } = reply.result as LongResults['run']
  const found = invariants.flatMap(({ number, title, differences, examples }) => {
    const [example] = examples
    return differences > 0
      ? [
          {
            number,
            title,
            differences,
            example: example ? `${example.subject} ${example.difference}` : null,
          },
        ]
      : []
  })
  return operate({ ...call, options: { ...call.options, reconciled: JSON.stringify(found) } })
}

class RefusedCall extends Error {}

/** Returns what the work with a file returns, or the error of its option. */
const withFile = async (
  option: string,
  work: () => Promise<OperatorReply>,
): Promise<OperatorReply> => {
  const { MalformedFile } = await import('../../shared/operator/csv-file.ts')
  try {
    return await work()
  } catch (error) {
    if (error instanceof MalformedFile) return { error: `--${option}: ${error.message}` }
    if (error instanceof RefusedCall) return { error: error.message }
    throw error
  }
}

/** Compares a statement: a file of the operator command, or its bytes as characters from the console. */
const compare = async (
  call: ConsoleCall,
  operate: Operate,
  { file }: LongCall,
): Promise<OperatorReply> => {
  const parsed = parseInput(reconciliation.verbs.statement.options, call.options)
  if (parsed instanceof Refusal) return { error: explain(parsed) }
  // The packed command also runs on Node 20, which has none.
  if (!process.getBuiltinModule('node:sqlite')) return { error: 'A statement needs Node 22.13' }
  const { compareFile } = await import('../../shared/operator/statement-file.ts')
  const ask: AskStatement = async (request) => {
    const options = { ...call.options, statement: JSON.stringify(request) }
    const reply = await operate({ ...call, options })
    if ('error' in reply) throw new RefusedCall(reply.error)
    return reply.result as ReplyTo<typeof request>
  }
  return withFile('statement', async () => {
    const parts = file ?? [Buffer.from(parsed.statement, 'latin1')]
    const { report, ...rest } = await compareFile({ file: parts, date: parsed.date }, ask)
    return { result: { ...report, ...rest } satisfies LongResults['statement'] }
  })
}

/** Repeats the call until each object has its outcome, or the call waits for an approval. */
const finish = async (
  call: ConsoleCall,
  operate: Operate,
  { onProgress }: LongCall,
): Promise<OperatorReply> => {
  for (let { options } = call; ; ) {
    const reply = await operate({ ...call, options })
    if ('error' in reply || !isProgress(reply.result)) return reply
    const { bulk, processed, total } = reply.result
    onProgress?.(processed, total)
    // A grant names the request.
    if (call.noun !== 'approval') options = { ...options, bulk }
  }
}

/** Uploads the references of a file first, if the call has one. */
const onDebits = async (
  call: ConsoleCall,
  operate: Operate,
  long: LongCall,
): Promise<OperatorReply> => {
  const { file: path, ...others } = call.options
  if (path === undefined || others.bulk !== undefined) return finish(call, operate, long)
  const { readReferences } = await import('../../shared/operator/references-file.ts')
  return withFile('file', async () => {
    const references = await readReferences(long.file ?? [Buffer.from(path, 'utf8')])
    let bulk: BulkId | undefined
    for (let n = 0; n * PART_REFERENCES < references.length; n += 1) {
      const start = n * PART_REFERENCES
      const rows = JSON.stringify(references.slice(start, start + PART_REFERENCES))
      const options = { ...(bulk && { bulk }), n: String(n), rows }
      const reply = await operate({ ...call, verb: 'upload', options })
      if ('error' in reply) return reply
      bulk = (reply.result as ResultOf<'exception', 'upload'>).bulk
    }
    const options = { ...others, file: long.file ? basename(path) : '-', bulk: String(bulk) }
    return finish({ ...call, options }, operate, long)
  })
}

/** Uploads the accounts of a file in parts, then imports them. */
const importCustomers = async (
  call: ConsoleCall,
  operate: Operate,
  long: LongCall,
): Promise<OperatorReply> => {
  const { file: path = '', ...others } = call.options
  if (others.bulk !== undefined) return finish(call, operate, long)
  const { readCustomers } = await import('../../shared/operator/customers-file.ts')
  return withFile('file', async () => {
    let bulk: BulkId | undefined
    let [n, processed] = [0, 0]
    for await (const part of readCustomers(long.file ?? [Buffer.from(path, 'utf8')])) {
      const rows = JSON.stringify(part.rows)
      const refused = String(part.refused.length)
      const options = {
        bank: others.bank ?? '',
        ...(bulk && { bulk }),
        n: String(n),
        rows,
        refused,
      }
      const reply = await operate({ ...call, verb: 'upload', options })
      if ('error' in reply) return reply
      for (const { line, reason } of part.refused) long.onRefused?.(`line ${line}: ${reason}`)
      bulk = (reply.result as ResultOf<'customer', 'upload'>).bulk
      n += 1
      processed += part.rows.length
      if (n % 20 === 0) long.onProgress?.(processed)
    }
    const options = { ...others, file: long.file ? basename(path) : '-', bulk: String(bulk) }
    return finish({ ...call, options }, operate, long)
  })
}

/** Reads the holidays of a file. */
const setCalendar = async (
  call: ConsoleCall,
  operate: Operate,
  { file }: LongCall,
): Promise<OperatorReply> => {
  const { file: path = '', year = '' } = call.options
  const { readCalendar } = await import('../../shared/operator/calendar-file.ts')
  return withFile('file', async () => {
    const days = JSON.stringify(await readCalendar(year, file ?? [Buffer.from(path, 'utf8')]))
    return operate({ ...call, options: { year, file: file ? basename(path) : '-', days } })
  })
}

const longVerbs: Record<string, typeof compare> = {
  'reconciliation run': reconcile,
  'reconciliation statement': compare,
  'day close': closeDay,
  'exception refund': onDebits,
  'exception resolve': onDebits,
  'customer import': importCustomers,
  'calendar set': setCalendar,
  'approval grant': finish,
}

/** Runs a verb for the console and the operator command, also one that takes several calls. */
export const operateFully = (
  call: ConsoleCall,
  operate: Operate,
  long: LongCall = {},
): Promise<OperatorReply> => {
  const name = `${call.noun} ${call.verb}`
  const perform = Object.hasOwn(longVerbs, name) ? longVerbs[name] : undefined
  return perform ? perform(call, operate, long) : operate(call)
}
