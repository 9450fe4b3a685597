import { Refusal } from '../../shared/domain/refusal.ts'
import { parseInput } from '../../shared/domain/validation.ts'
import { reconciliation } from '../../shared/operator/nouns/accounting.ts'
import type { ResultOf } from '../../shared/operator/results.ts'
import type { FileParts, LoadDebits } from '../../shared/operator/statement-file.ts'
import { explain, type OperatorReply } from '../../shared/operator/verbs.ts'
import type { ConsoleBackend, ConsoleCall, LongResults } from './backend.ts'

type Operate = ConsoleBackend['operate']

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

class RefusedCall extends Error {}

/** Compares a statement: a file of the operator command, or the text that the console sends. */
const compare = async (
  call: ConsoleCall,
  operate: Operate,
  file?: FileParts,
): Promise<OperatorReply> => {
  const parsed = parseInput(reconciliation.verbs.statement.options, call.options)
  if (parsed instanceof Refusal) return { error: explain(parsed) }
  const { compareFile, MalformedStatement } = await import(
    '../../shared/operator/statement-file.ts'
  )
  const loadDebits: LoadDebits = async (request) => {
    const options = { ...call.options, statement: JSON.stringify(request) }
    const reply = await operate({ ...call, options })
    if ('error' in reply) throw new RefusedCall(reply.error)
    return reply.result as Awaited<ReturnType<LoadDebits>>
  }
  try {
    const parts = file ?? [Buffer.from(parsed.statement, 'utf8')]
    const { report, ignored } = await compareFile({ file: parts, date: parsed.date }, loadDebits)
    return { result: { ...report, ignored } satisfies LongResults['statement'] }
  } catch (error) {
    if (error instanceof MalformedStatement) return { error: `--statement: ${error.message}` }
    if (error instanceof RefusedCall) return { error: error.message }
    throw error
  }
}

const longVerbs: Record<string, typeof compare> = {
  'reconciliation run': reconcile,
  'reconciliation statement': compare,
}

/** Runs a verb for the console and the operator command, also one that takes several calls. */
export const operateFully = (
  call: ConsoleCall,
  operate: Operate,
  file?: FileParts,
): Promise<OperatorReply> => {
  const name = `${call.noun} ${call.verb}`
  const perform = Object.hasOwn(longVerbs, name) ? longVerbs[name] : undefined
  return perform ? perform(call, operate, file) : operate(call)
}
