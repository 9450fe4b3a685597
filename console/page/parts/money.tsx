import type { ComponentChildren } from 'preact'
import { Facts } from './screen.tsx'

const pesewasOf = (amount: string): number => Math.round(Number(amount) * 100)

/** Adds amounts such as 100.00; null counts as zero. */
export const sumOf = (amounts: readonly (string | null)[]): string =>
  (amounts.reduce((sum, amount) => sum + pesewasOf(amount ?? '0'), 0) / 100).toFixed(2)

export const isAboveZero = (amount: string | null): boolean => pesewasOf(amount ?? '0') > 0

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
      ['Amount', <strong>{amount} GHS</strong>],
      ['From', from],
      ['To', to],
    ]}
  />
)
