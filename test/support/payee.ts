import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { createProvider } from './provider.ts'
import type { Service, Shown } from './running-service.ts'

/** A provider with a fee of 1.5 % and a settlement account at GCB. */

export type Payee = Awaited<ReturnType<typeof createPayee>>

/** Returns a future settlement day: debits completed by a test belong to an earlier day. */
export const nightAfter = (days: number): Day => dayAfter(dayOf(new Date()), days + 1)

/** The options of an operator that set a settlement account. */
export const settlementAccount = (number: string, bank = 'GCB') => ({
  'settlement-bank': bank,
  'settlement-account': number,
  'settlement-name': 'Payee Ltd',
})

export const createPayee = async (
  service: Service,
  id: string,
  settings: Record<string, string> = {},
) => {
  const defaults = { 'fee-basis-points': '150', ...settlementAccount('1041007001') }
  const provider = await createProvider(service, id, { ...defaults, ...settings })
  const complete = async (amount: string): Promise<string> =>
    (await service.chargeCompleted({ amount }, provider.credential)).reference
  return {
    ...provider,
    /** Completes one debit for each amount and returns their references. */
    complete: (...amounts: string[]) => Promise.all(amounts.map(complete)),
    /** Runs the settlement of a day for this provider. */
    run: (date: Day): Promise<Shown> => service.call('settlement', 'run', { date, provider: id }),
    /** Runs a verb of `settlement` on one of its batches. */
    batch: (verb: string, batch: string, options: Record<string, string> = {}): Promise<Shown> =>
      service.call('settlement', verb, { batch, ...options }),
    reverse: (reference: string, reason = 'Dispute'): Promise<Shown> =>
      service.call('debit', 'reverse', { reference, reason }),
  }
}
