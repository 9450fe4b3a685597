import type { NounName } from '../../../shared/operator/results.ts'
import type { ProviderResult } from '../../../shared/views/operator/provider.ts'
import { isAboveZero, isBelowZero } from '../amounts.ts'
import { type CallOptions, LIMIT_MAX, mayUse, operate, readPage } from '../client.ts'
import { moneyOf, refundPayer } from '../money.ts'
import { useLoaded, useOperator } from '../use-operator.ts'
import { Data, Payment } from './screen.tsx'

/** Returns the account that a provider is paid to. */
export const accountText = (provider: ProviderResult | undefined): string | null => {
  const account = provider?.settlement_account
  return account ? `${account.account_name}, ${account.bank} ${account.account_number}` : null
}

/** The amount and the parties of a debit, or of its refund. */
const DebitPayment = ({ reference, isRefund }: { reference: string; isRefund: boolean }) => (
  <Data of={useOperator('debit', 'show', { reference })}>
    {(shown) => {
      const { amount, provider, bank, phone_number } = shown
      const name = phone_number ? `customer ${phone_number}` : 'an erased customer'
      const customer = `${name} at ${bank}`
      const parties = isRefund
        ? { from: refundPayer(shown), to: customer }
        : { from: customer, to: provider }
      return <Payment amount={amount} {...parties} />
    }}
  </Data>
)

/** Reads a batch with the account of its provider, and whether batches below zero reduce its payout. */
const readPayout = async (id: string) => {
  const batch = await operate('settlement', 'show', { batch: id })
  const owner = { provider: batch.provider }
  const waiting = { ...owner, status: 'pending', limit: LIMIT_MAX }
  const [payee, others] = await Promise.all([
    mayUse('provider') ? operate('provider', 'show', owner) : undefined,
    readPage('settlement', waiting),
  ])
  return {
    batch,
    payee,
    isReduced: others.next !== undefined || others.rows.some(({ net }) => isBelowZero(net)),
  }
}

type PayoutProps = { id: string; isRecorded: boolean; options: Partial<CallOptions> }

/** The payout of a batch. One that was sent keeps its amount; a recorded one has the amount of the call. */
const Payout = ({ id, isRecorded, options: { amount, bank: by } }: PayoutProps) => (
  <Data of={useLoaded(['payout', id], () => readPayout(id))}>
    {({ batch: { provider, status, net, paid }, payee, isReduced }) => {
      if (net === null) return <p>The batch is being built: it has no payout yet.</p>
      const isOwed = isRecorded && isBelowZero(net)
      if (status === 'completed' || !(isOwed || isAboveZero(net))) return <p>No money moves.</p>
      if (isOwed) {
        const owed = `at most ${net.slice(1)}`
        return <Payment amount={amount || owed} from={provider} to="the service" />
      }
      const bank = by === 'none' ? undefined : by
      const isSent = status === 'processing' || (isRecorded && status === 'failed')
      const sent = isSent ? paid : null
      const next = isReduced ? `at most ${net}` : net
      const isAtOther = bank && bank !== payee?.settlement_account?.bank
      const current = isAtOther ? bank : accountText(payee)
      // No view has the account of a sent payout, and the provider may have another one by now.
      const account = isSent ? bank || 'the account of the sent payout' : current
      return (
        <Payment
          amount={amount ?? sent ?? next}
          to={account ? `${provider}: ${account}` : provider}
        />
      )
    }}
  </Data>
)

/** A reference that is being typed names nothing yet. */
const isWhole = (id: string | undefined): id is string => /^\w+-\d{8}-\w{6}$/.test(id ?? '')

type MoneyTermsProps = { noun: string; verb: string; options: Partial<CallOptions> }

/** The effect of a call on money, in its dialog and in that of its approval. */
export const MoneyTerms = ({ noun, verb, options }: MoneyTermsProps) => {
  const money = moneyOf(noun, verb, options)
  if (money === 'none') return <p>No money moves.</p>
  if (money === 'taken back') {
    return (
      <p>
        The customer gets no refund. The next batch takes a settled debit back from the provider.
      </p>
    )
  }
  const id = money === 'payout' ? options.batch : options.reference
  const shown: NounName = money === 'payout' ? 'settlement' : 'debit'
  if (!money || !isWhole(id) || !mayUse(shown)) return null
  return money === 'payout' ? (
    <Payout id={id} isRecorded={verb === 'complete'} options={options} />
  ) : (
    <DebitPayment reference={id} isRefund={money === 'to customer'} />
  )
}
