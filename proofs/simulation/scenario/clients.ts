import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { ChargeRequest } from '../../../shared/domain/debits/charge.ts'
import type { ApiCall } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'
import { TRIES_MAX } from '../peers/api.ts'
import type { Staff } from '../peers/operators.ts'
import { simulatedProviders } from './fixtures.ts'
import { malformations } from './malformed-reports.ts'
import {
  type BankName,
  bankNames,
  type DebitScript,
  DIFFERENCES,
  PROVIDERS,
  type ScriptedReport,
} from './script.ts'

/** The callers of one debit: its provider, its bank and an operator. */

type Deps = Staff & { clock: Clock; random: Random; reportsOnce: boolean }

export type Clients = ReturnType<typeof newClients>

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into, member by member
const dataIn = (call: ApiCall | undefined): any =>
  (call?.reply?.body as { data?: unknown } | undefined)?.data

const providerOf = ({ provider }: DebitScript) => ({
  kind: 'provider' as const,
  id: simulatedProviders[provider]?.id ?? '',
})

const otherProvider = (script: DebitScript) =>
  providerOf({ ...script, provider: (script.provider + 1) % PROVIDERS })

const bodyOf = (script: DebitScript): Record<keyof ChargeRequest, unknown> => ({
  phone_number: script.phone,
  bank_identifier: script.bank,
  amount: script.amount,
  currency: 'GHS',
  narration: `Debit ${script.number}`,
  // Providers use equal references, independently of each other.
  partner_reference: `order-${Math.floor(script.number / PROVIDERS)}`,
  metadata: script.number % 5 === 0 ? { cart: `c-${script.number}` } : undefined,
})

const otherBank = (bank: string): string =>
  bankNames[(bankNames.indexOf(bank as BankName) + 1) % bankNames.length] ?? bank

/** Returns the members of a repeat that reuses the reference for another charge. */
const differenceOf = ({ charge, bank }: DebitScript): object | undefined => {
  if (charge === 'bank_identifier') return { bank_identifier: otherBank(bank) }
  return charge in DIFFERENCES
    ? { [charge]: DIFFERENCES[charge as keyof typeof DIFFERENCES] }
    : undefined
}

const INVALID: readonly object[] = [
  { amount: '0.99' },
  { amount: '10000.01' },
  { amount: 100.5 },
  { currency: 'USD' },
  { bank_identifier: 'NONE1' },
  { phone_number: '0241234567' },
  { partner_reference: '' },
]

/** Asks to reverse a debit, once or twice at once; another provider asks too. */
const requestReversal = async ({ api, random }: Deps, script: DebitScript, reference: string) => {
  const name = 'request-reversal' as const
  const body = { reason: `Debit ${script.number}`, kind: random.pick(['refund', 'complaint']) }
  const ask = (caller: ReturnType<typeof providerOf>) =>
    api.ask({ name, caller, path: { reference }, body })
  const own = providerOf(script)
  await Promise.all(random.happens(0.3) ? [ask(own), ask(own)] : [ask(own)])
  await ask(otherProvider(script))
}

/** Records an outcome that the bank reported by telephone. */
const recordOutcome = (
  { operators }: Deps,
  { number }: DebitScript,
  reference: string,
  verb: 'complete' | 'fail',
): Promise<unknown> => {
  const options = { reference, 'bank-reference': `T-${number}`, reason: 'Declined' }
  return operators.operate('debit', verb, options)
}

/** The provider of a debit, and the operator who serves it. */
const newProviders = (deps: Deps) => {
  const { api, operators, clock, random } = deps
  const reversals: { at: number; options: { reference: string; reason: string } }[] = []

  const charge = (script: DebitScript, more: object = {}) =>
    api.ask({ name: 'charge', caller: providerOf(script), body: { ...bodyOf(script), ...more } })

  const call = async (script: DebitScript, reference: string): Promise<void> => {
    for (const { afterSeconds, name } of script.calls) {
      await api.until(script.at + afterSeconds * 1000)
      await api.ask({ name, caller: providerOf(script), path: { reference } })
      await api.ask({ name, caller: otherProvider(script), path: { reference } })
    }
  }

  const reverse = async (script: DebitScript, reference: string): Promise<void> => {
    const options = { reference, reason: `Debit ${script.number}` }
    const done = await operators.operate('debit', 'reverse', options)
    if (done?.reply?.status === 200) reversals.push({ at: clock.now(), options })
  }

  const redeliver = async (script: DebitScript, reference: string): Promise<void> => {
    const caller = providerOf(script)
    const status = await api.ask({ name: 'get-debit-request', caller, path: { reference } })
    // A delivery id is the debit's number followed by the event's.
    const id = `${Number(String(dataIn(status)?.id).replace('dt_', '')) * 100 + random.below(3)}`
    const name = 'redeliver-event' as const
    if (script.number % 2 === 0) await operators.operate('delivery', 'redeliver', { id })
    else await api.ask({ name, caller, path: { id } })
    await api.ask({ name, caller: otherProvider(script), path: { id } })
  }

  return {
    charge: async (script: DebitScript): Promise<void> => {
      await api.until(script.at)
      if (script.charge === 'invalid') {
        await charge(script, random.pick(INVALID))
        return
      }
      const charged = await charge(script)
      const data = dataIn(charged)
      // A signature covers the query.
      if (script.number % 5 === 0)
        await api.ask({ name: 'list-banks', caller: providerOf(script), query: { per_page: '3' } })
      const difference = differenceOf(script)
      if (difference) await charge(script, difference)
      if (!data?.reference) return
      /** Acts once some seconds have passed since the charge; without a time, never. */
      const after = async (seconds: number | undefined, act: () => unknown) => {
        if (seconds !== undefined) await api.until(script.at + seconds * 1000)
        if (seconds !== undefined) await act()
      }
      const { repeated, reversed, manual, redelivered, requested } = script
      await Promise.all([
        call(script, data.reference),
        after(repeated, () => charge(script)),
        after(reversed, () => reverse(script, data.reference)),
        after(manual?.afterSeconds, () =>
          recordOutcome(deps, script, data.reference, manual?.verb ?? 'fail'),
        ),
        after(redelivered, () => redeliver(script, data.reference)),
        after(requested, () => requestReversal(deps, script, data.reference)),
      ])
    },
    reversedSince: (since: number) =>
      reversals.flatMap(({ at, options }) => (at > since ? [options] : [])),
  }
}

/** Sends a bank's report until it is answered. */
const sendReport = async (
  { api, reportsOnce }: Deps,
  { script, uuid, n }: { script: DebitScript; uuid: string; n: number },
): Promise<void> => {
  const scripted = script.reports[n]
  if (!scripted || scripted.flaw === 'lost') return
  const { flaw, fee, status } = scripted
  const name = scripted.by === 'update' ? 'update-debit-transaction' : 'debit-callback'
  const body = {
    status,
    bank_reference: `B-${uuid.slice(0, 8)}`,
    ...(status === 'failed' ? { error_message: 'Declined' } : { approval_method: 'ussd' }),
    ...(fee === undefined ? {} : { fee }),
    ...(script.number % 4 === 0 ? { metadata: { branch: `b-${n}`, cart: `b-${n}` } } : {}),
  }
  await api.sleep(scripted.afterSeconds * 1000)
  if (script.number % 7 === 0) {
    const caller = { kind: 'bank' as const, id: otherBank(script.bank) }
    await api.ask({ name, caller, path: { uuid }, body })
  }
  await api.ask({
    name,
    caller: { kind: 'bank', id: script.bank },
    path: { uuid },
    ...(flaw ? { raw: malformations[flaw](body) } : { body }),
    triesMax: reportsOnce ? 1 : TRIES_MAX,
  })
}

export const newClients = (deps: Deps) => {
  const { api, clock, books } = deps
  const byNumber = new Map<number, DebitScript>()
  /** The debits that banks have accepted, by uuid. */
  const accepted = new Map<string, { script: DebitScript; reference: string; at: number }>()
  const providers = newProviders(deps)
  return {
    named: (narration: unknown): DebitScript | undefined =>
      byNumber.get(Number(String(narration).replace('Debit ', ''))),
    start: (script: DebitScript): Promise<void> => {
      byNumber.set(script.number, script)
      return providers.charge(script)
    },
    reversedSince: providers.reversedSince,
    /** Returns the final report that is due by now, for a reply that an operator may overtake. */
    outcomeOf: (uuid: string): ScriptedReport | undefined => {
      const { script, reference = '', at = 0 } = accepted.get(uuid) ?? {}
      const outcome = script?.reports
        .filter(({ status }) => status !== 'approved')
        .filter(({ afterSeconds }) => at + afterSeconds * 1000 <= clock.now())
        .toSorted((one, other) => one.afterSeconds - other.afterSeconds)[0]
      if (script?.isOvertaken && outcome?.status === 'completed')
        void recordOutcome(deps, script, reference, 'fail')
      return outcome
    },
    /**
     * Schedules the reports on an accepted debit, and what its bank does.
     * @param body the submission
     */
    accepted: (script: DebitScript, body: Record<string, unknown>): void => {
      const uuid = String(body.uuid)
      accepted.set(uuid, { script, reference: String(body.reference), at: clock.now() })
      const { afterSeconds } = books.trueCompletion(script.reports) ?? {}
      if (afterSeconds !== undefined) {
        void api
          .sleep(afterSeconds * 1000)
          .then(() => books.write('debit', script.bank, uuid, body.amount))
      }
      for (const n of script.reports.keys()) void sendReport(deps, { script, uuid, n })
    },
  }
}
