import { vi } from 'vitest'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { createProvider, type Provider, printed, type Shown } from './provider.ts'
import { CHARGE, chargeBody, type Service } from './running-service.ts'

/** A provider that pays 1.5 % and is paid at GCB, and the settlement of its debits. */
export type Payee = Provider & {
  /** Charges, one debit for each amount. @returns their references once all are completed */
  complete: (...amounts: string[]) => Promise<string[]>
  /** What a day's run has done for it; it must not be refused. */
  run: (date: Day) => Promise<Shown>
  /** What `settlement VERB --batch` prints of one of its batches. */
  batch: (verb: string, id: string, options?: Record<string, string>) => Promise<Shown>
  reverse: (reference: string, reason?: string) => Promise<Shown>
}

/** A day of runs to come: whatever a test has completed was completed before it. */
export const nightAfter = (days: number): Day => dayAfter(dayOf(new Date()), days + 1)

const ACCOUNT = {
  'fee-basis-points': '150',
  'settlement-bank': 'GCB',
  'settlement-account': '1041007001',
  'settlement-name': 'Payee Ltd',
}

/** The published number of a customer whose bank is then silent: the test reports in its place. */
const SILENT = '+233244444444'

const REPORT = {
  status: 'completed',
  bank_reference: 'GCB-0001',
  approval_method: 'ussd',
}

export const createPayee = async (
  service: Service,
  id: string,
  settings: Record<string, string> = {},
): Promise<Payee> => {
  const provider = await createProvider(service, id, { ...ACCOUNT, ...settings })
  const operate = async (noun: string, verb: string, options: Record<string, string>) =>
    printed(await service.operate(noun, verb, options))

  const complete = async (amount: string): Promise<string> => {
    const { body } = await service.send('POST', CHARGE, {
      credential: provider.credential,
      body: chargeBody({ phone_number: SILENT, amount }),
    })
    const { reference, response } = body.data
    await vi.waitFor(
      async () => {
        const { status } = await operate('debit', 'show', { reference })
        if (status !== 'processing') throw new Error(`${reference} is ${status}`)
      },
      { timeout: 15_000, interval: 20 },
    )
    // The callback, of which a bank may make more in a minute than of updates.
    const path = `/api/v1/banks/debit-transactions/${response.uuid}/callback`
    const { status } = await service.send('POST', path, {
      credential: 'bt_sandbox_gcb',
      body: REPORT,
    })
    if (status !== 200) throw new Error(`The report of ${reference} was answered ${status}`)
    return reference
  }

  return {
    ...provider,
    complete: (...amounts) => Promise.all(amounts.map(complete)),
    run: (date) => operate('settlement', 'run', { date, provider: id }),
    batch: (verb, batch, options = {}) => operate('settlement', verb, { batch, ...options }),
    reverse: (reference, reason = 'Dispute') => operate('debit', 'reverse', { reference, reason }),
  }
}
