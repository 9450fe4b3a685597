import type { BatchResult } from '../../../shared/views/batch.ts'
import { isAboveZero } from '../amounts.ts'
import { Call } from './call.tsx'
import { Payment } from './money.tsx'

type PayoutActionsProps = {
  batch: BatchResult
  account: string | null
  /** Whether earlier batches with a net below zero reduce the payout. */
  isReduced: boolean
}

type PayoutCall = { verb: 'process' | 'retry'; label: string; about?: string; done: string }

/** The call that pays a batch in each status; null: it is paid. */
const payouts: Record<BatchResult['status'], PayoutCall | null> = {
  pending: { verb: 'process', label: 'Pay now', done: 'The payout is sent.' },
  processing: {
    verb: 'process',
    label: 'Query the bank',
    about: 'Sends the same payout again. The bank pays a uuid once and reports its status.',
    done: 'The bank’s reply is recorded.',
  },
  completed: null,
  failed: {
    verb: 'retry',
    label: 'Retry payout',
    about: 'Pays the batch again under a new uuid. Correct the account first.',
    done: 'The payout is sent again.',
  },
}

/** The calls that the status of a batch allows. */
export const PayoutActions = ({ batch, account, isReduced }: PayoutActionsProps) => {
  const { id, provider, net, sealed_at } = batch
  const payout = payouts[batch.status]
  if (!payout || !sealed_at || !isAboveZero(net)) return null
  const { verb, ...texts } = payout
  const amount = isReduced ? `at most ${net}` : String(net)
  const payee = account ? `${provider}: ${account}` : provider
  const confirmation = () => <Payment amount={amount} to={payee} />
  return (
    <>
      <Call {...texts} of={['settlement', verb, { batch: id }]} confirmation={confirmation} />
      <Call
        label="Record payout"
        of={['settlement', 'complete', { batch: id }]}
        confirmation={confirmation}
        done="The payout is recorded."
      />
    </>
  )
}
