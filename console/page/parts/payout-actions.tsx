import type { BatchResult } from '../../../shared/views/batch.ts'
import { isAboveZero } from '../amounts.ts'
import { OperatorAction } from './action.tsx'
import { Payment } from './money.tsx'

type PayoutActionsProps = {
  batch: BatchResult
  account: string | null
  /** Whether earlier batches with a net below zero reduce the payout. */
  isReduced: boolean
  reload: () => void
}

type PayoutCall = { label: string; verb: 'process' | 'retry'; about: string; done: string }

/** The call that pays a batch in each status; null: it is paid. */
const payouts: Record<BatchResult['status'], PayoutCall | null> = {
  pending: {
    label: 'Pay now',
    verb: 'process',
    about: 'Pays the batch at once, also before its day.',
    done: 'The payout is sent.',
  },
  processing: {
    label: 'Query the bank',
    verb: 'process',
    about: 'Sends the same payout again. The bank pays a uuid once and reports its status.',
    done: 'The bank’s reply is recorded.',
  },
  completed: null,
  failed: {
    label: 'Retry payout',
    verb: 'retry',
    about: 'Pays the batch again under a new uuid. Correct the account first.',
    done: 'The payout is sent again.',
  },
}

/** The calls that the status of a batch allows. */
export const PayoutActions = ({ batch, account, isReduced, reload }: PayoutActionsProps) => {
  const { id, provider, status, net, sealed_at } = batch
  const payout = payouts[status]
  if (!payout || !sealed_at || !isAboveZero(net)) return null
  const payment = () => (
    <Payment
      amount={isReduced ? `at most ${net}` : String(net)}
      to={account ? `${provider}: ${account}` : provider}
    />
  )
  const { verb, ...texts } = payout
  const common = { confirmation: payment, movesMoney: true, onDone: reload }
  return (
    <>
      <OperatorAction {...common} {...texts} call={['settlement', verb, { batch: id }]} />
      <OperatorAction
        {...common}
        label="Record payout"
        call={['settlement', 'complete', { batch: id }]}
        about="Records a payout that the bank confirmed outside the API. Pays nothing."
        done="The payout is recorded."
      />
    </>
  )
}
