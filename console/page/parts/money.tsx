import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import { operate } from '../client.ts'
import { refundPayer } from '../refund-payer.ts'
import { useLoaded } from '../use-operator.ts'
import { Data, Facts } from './screen.tsx'

/** An amount alone, without its parties. */
export const Sum = ({ of: amount }: { of: string }) => (
  <strong>{withSeparators(`${amount} GHS`)}</strong>
)

type PaymentProps = { amount: string; from?: ComponentChildren; to: ComponentChildren }

/** The amount and the parties of a call that moves money, for its confirmation. */
export const Payment = ({ amount, from, to }: PaymentProps) => (
  <Facts of={{ Amount: <Sum of={amount} />, From: from, To: to }} />
)

type DebitPaymentProps = { reference: string; isRefund: boolean }

/** The amount and the parties of a debit, or of its refund. */
export const DebitPayment = ({ reference, isRefund }: DebitPaymentProps) => {
  const debit = useLoaded((signal) => operate('debit', 'show', { reference }, signal), [reference])
  return (
    <Data of={debit}>
      {(shown) => {
        const { amount, provider, bank, phone_number } = shown
        const customer = `customer ${phone_number} at ${bank}`
        return isRefund ? (
          <Payment amount={amount} from={refundPayer(shown)} to={customer} />
        ) : (
          <Payment amount={amount} from={customer} to={provider} />
        )
      }}
    </Data>
  )
}
