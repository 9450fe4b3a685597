import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { operations } from '../../shared/api/operations.ts'
import { isOpen, type Status, statuses } from '../../shared/domain/debits/lifecycle.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import type { CallGranted, ResultOf } from '../../shared/operator/results.ts'
import type { Control } from '../control/control.ts'

/** The steps that scenarios share: a debit, reports of its bank, and waits for their effects. */

export type PlayedDebit = ResultOf<'debit', 'show'>

/** Ends a scenario with a published error. */
export class ScenarioRefusal extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(JSON.stringify(refusal.error))
    this.refusal = refusal
  }
}

const refuse = (refusal: Refusal): never => {
  throw new ScenarioRefusal(refusal)
}

/** Ends a scenario that the state of the sandbox prevents. */
export const conflict = (reason: string): never => refuse(new Refusal(1409, { details: [reason] }))

/** The sandbox bank accepts debits of this number and never reports them. */
const SILENT = '+233244444444'
const TOKEN = 'sk_sandbox_demo'
export const BANK = 'GCB'

/** The second operator grants the requests of the first in a sandbox with approvals. */
const OPERATOR = 'local:scenario'
const APPROVER = 'local:scenario-approver'

const PATIENCE_MS = 10_000
const POLL_MS = 20

/** Restores settings after an action, also one that fails: its error is the one that is thrown. */
export const thenRestore = async <T>(
  action: () => Promise<T>,
  restore: () => Promise<unknown>,
): Promise<T> => {
  const [ended] = await Promise.allSettled([action()])
  const [restored] = await Promise.allSettled([restore()])
  if (ended.status === 'rejected') throw ended.reason
  if (restored.status === 'rejected') throw restored.reason
  return ended.value
}

export const OPEN: readonly Status[] = statuses.filter(isOpen)

/** Names and status of a view, for the message of a conflict. */
type Shown = { reference?: string; id?: string | number; status: string | null }

type RefusedBody = Pick<Refusal, 'error' | 'details'>
type PostReply = RefusedBody & { data: { reference: string } }

export type Play = ReturnType<typeof newPlay>

/** @param reference the debit to play with; undefined: a new one */
export const newPlay = (control: Control, name: string, reference: string | undefined) => {
  const calls = newCalls(control)
  const { operate, show, untilStatus, request } = calls

  /** Creates a debit that its bank accepts and never reports. Waits for its status. */
  const charge = async ({ amount = '25.00', status: until = 'processing' as Status } = {}) => {
    const { status, body } = await request(operations.charge.path, TOKEN, {
      phone_number: SILENT,
      bank_identifier: BANK,
      amount,
      currency: 'GHS',
      narration: `Scenario ${name}`,
      partner_reference: `scenario-${randomUUID()}`,
    })
    if (status !== 202) return refuse(refusalIn(status, body))
    return untilStatus(body.data.reference, until)
  }

  const find = async (of: string) => {
    // The bank may be about to accept it.
    await control.clock.idle()
    try {
      return await show(of)
    } catch (error) {
      throw error instanceof ScenarioRefusal ? new ScenarioRefusal(new Refusal(3404)) : error
    }
  }

  /** Returns the debit of the request, which must have one of these statuses, else a new one. */
  const debit = async (statuses: readonly Status[], fields?: { amount?: string }) => {
    if (reference === undefined) return charge(fields)
    const found = await find(reference)
    if (statuses.includes(found.status)) return found
    return misfit(`is ${found.status}; it must be ${statuses.join(' or ')}`)
  }

  const reports = newReports(calls)
  return {
    ...calls,
    ...reports,
    control,
    reference,
    charge,
    debit,
    misfit,
    open: () => debit(OPEN),
    completed: async (fields?: { amount: string }) =>
      reports.complete(await debit([...OPEN, 'completed'], fields)),
    /** Returns the open exceptions of a debit. */
    exceptions: async (of: PlayedDebit) => {
      const listed = await operate('exception', 'show', { reference: of.reference })
      return listed.filter(({ resolved_at }) => resolved_at === null)
    },
    /** Moves the clock to a time. */
    moveTo: async (at: Date) => {
      if (!control.clock.isMovable) conflict('functions run in other processes')
      await control.clock.moveTo(at)
    },
  }
}

/** Calls of operators and of the API. */
const newCalls = (control: Control) => {
  const call = async (noun: string, verb: string, options: object, actor: string) => {
    const reply = await control.invoke(`manage-${noun}`, { verb, options, actor })
    const { error, result } = reply as { result: unknown; error?: string }
    return error ? conflict(`${noun} ${verb}: ${error}`) : result
  }

  const operate: CallGranted = async <R>(noun: string, verb: string, options: object) => {
    const result = await call(noun, verb, options, OPERATOR)
    const { approval } = (result ?? {}) as { approval?: { id: string } }
    const granted = approval && (await call('approval', 'grant', { id: approval.id }, APPROVER))
    return (granted ?? result) as R
  }

  /** Waits until the service is idle and a view has what the scenario needs, and returns that. */
  const until = async <T extends Shown, R>(
    read: () => Promise<T>,
    find: (view: T) => R | null | undefined | false,
  ): Promise<R> => {
    const end = Date.now() + PATIENCE_MS
    for (;;) {
      await control.clock.idle()
      const view = await read()
      const found = find(view)
      if (found) return found
      if (Date.now() > end) {
        const id = view.reference ?? view.id
        return conflict(`the scenario cannot continue: ${id} is ${view.status}`)
      }
      await pause(POLL_MS)
    }
  }

  const show = (of: string) => operate('debit', 'show', { reference: of })

  return {
    operate,
    until,
    show,
    untilStatus: (of: string, status: Status) =>
      until(
        () => show(of),
        (debit) => debit.status === status && debit,
      ),
    request: async (path: string, token: string, content: object) => {
      const response = await fetch(`${control.address}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(content),
      })
      return { status: response.status, body: (await response.json()) as PostReply }
    },
  }
}

/** Reports of the bank of a debit. */
const newReports = ({ request, untilStatus }: ReturnType<typeof newCalls>) => {
  /** Sends a report by the token that the seeds give to a bank. */
  const report = async ({ uuid, bank }: PlayedDebit, body: object) => {
    const path = operations['debit-callback'].path.replace('{uuid}', uuid)
    const fields = { bank_reference: `${bank}-${uuid.slice(-12).toUpperCase()}` }
    const token = `bt_sandbox_${bank.toLowerCase()}`
    const reply = await request(path, token, { ...fields, ...body })
    return reply.status === 401 ? misfit(`is at ${bank}, which has no token ${token}`) : reply
  }

  const accept = async (of: PlayedDebit, body: object) => {
    const reply = await report(of, body)
    if (reply.status !== 200) refuse(refusalIn(reply.status, reply.body))
  }

  /** Ends an open debit by a report of its bank; leaves another one unchanged. */
  const end = async (of: PlayedDebit, body: { status: Status; error_message?: string }) => {
    if (!OPEN.includes(of.status)) return of
    await accept(of, body)
    return untilStatus(of.reference, body.status)
  }

  return {
    report,
    accept,
    complete: (of: PlayedDebit) => end(of, { status: 'completed' }),
    fail: (of: PlayedDebit, error_message: string) => end(of, { status: 'failed', error_message }),
  }
}

const misfit = (message: string): never => refuse(invalid({ reference: [message] }))

const refusalIn = (http: number, { error, details }: RefusedBody): Refusal => {
  const { code, message, category } = error
  return new Refusal(code, { http, message, category, ...(details && { details }) })
}
