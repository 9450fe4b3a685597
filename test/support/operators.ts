import { setTimeout as pause } from 'node:timers/promises'
import type { ApprovalId } from '../../shared/domain/operator/approval.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { printed, type Service, type Shown } from './running-service.ts'

/** Operators with names, who request and decide approvals. */

export const [ama, kofi, esi] = ['ama', 'kofi', 'esi'].map(
  (name) => `arn:aws:iam::123456789012:user/${name}`,
) as [string, string, string]

export const SECOND = 'the requester cannot grant: a second operator is required'
export const MADE = 'the call was already made at'

export type Options = Record<string, string>
type Call = [actor: string | undefined, noun: string, verb: string, options?: Options]

export const errorOf = async (reply: Promise<OperatorReply>): Promise<string> => {
  const { error } = (await reply) as { error?: string }
  if (error === undefined) throw new Error('not refused')
  return error
}

export const account = (digits: string): Options => ({
  'settlement-bank': 'GCB',
  'settlement-account': digits,
  'settlement-name': 'Other Ltd',
})

export const operatorsOf = (service: Service) => {
  const call = async (...[actor, noun, verb, options = {}]: Call) => {
    const event = { verb, options, ...(actor ? { actor } : {}) }
    // Change records of one millisecond have no order.
    await pause(2)
    return (await service.invoke(`manage-${noun}`, event)) as OperatorReply
  }
  const operate = async (...words: Call): Promise<Shown> => printed(await call(...words))
  /** Requests an approval as ama and returns its id. */
  const request = async (noun: string, verb: string, options: Options): Promise<ApprovalId> =>
    (await operate(ama, noun, verb, options)).approval.id
  const grant = (actor: string | undefined, id: string) => call(actor, 'approval', 'grant', { id })
  return {
    call,
    operate,
    request,
    grant,
    granted: async (id: string): Promise<Shown> => printed(await grant(kofi, id)),
    show: (id: string): Promise<Shown> => operate(ama, 'approval', 'show', { id }),
    changeAccount: (provider: string, digits = '1041008001') =>
      request('provider', 'update', { provider, ...account(digits) }),
    changesOf: async (target: string): Promise<Shown[]> =>
      (await operate(ama, 'change', 'list', { limit: '1000' })).filter(
        (change: Shown) => change.target === target,
      ),
  }
}
