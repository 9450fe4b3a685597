import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import { operate } from '../client.ts'
import { refundPayer } from '../refund-payer.ts'
import { useLoaded } from '../use-operator.ts'
import { Data, Facts } from './screen.tsx'

type PaymentProps = {
  amount: string
  /** Who receives the money. */
  to: ComponentChildren
  from?: ComponentChildren
}

/** The amount and the parties of a call that moves money, for its confirmation. */
export const Payment = ({ amount, to, from }: PaymentProps) => (
  <Facts
    rows={[
      ['Amount', <strong>{withSeparators(`${amount} GHS`)}</strong>],
      ['From', from],
      ['To', to],
    ]}
  />
)

type DebitPaymentProps = { reference: string; isRefund: boolean }

/** The amount and the parties of a debit, or of its refund. */
export const DebitPayment = ({ reference, isRefund }: DebitPaymentProps) => {
  const debit = useLoaded(() => operate('debit', 'show', { reference }), [reference])
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
