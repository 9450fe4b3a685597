import type { FailureCode } from '../../../shared/domain/banks/failure-code.ts'
import type { DebitResult } from '../../../shared/views/operator/debit.ts'
import { type CallOptions, exchange, isSandbox, mayUse, operate, tokenOf } from '../client.ts'
import { debitStatuses } from '../debit-statuses.ts'
import { Action, OperatorAction } from './action.tsx'

/** A text of a bank for each code. */
export const failures: Record<FailureCode, string> = {
  insufficient_funds: 'Insufficient funds',
  invalid_account: 'Invalid account',
  transaction_declined: 'Transaction declined by the customer',
  timeout: 'The request timed out',
  network_error: 'Network unavailable',
  unknown_error: 'Unspecified error',
}

/** Reports an outcome with the token of the bank in a sandbox; otherwise an operator records it. */
const reportOutcome =
  ({ reference, uuid, bank }: DebitResult, status: 'completed' | 'failed') =>
  (values: CallOptions): Promise<unknown> => {
    const bankReference = values['bank-reference'] ?? `${bank}-${uuid.slice(0, 8).toUpperCase()}`
    const token = tokenOf('bank', bank)
    const verb = status === 'completed' ? 'complete' : 'fail'
    if (!token) {
      const options = { reason: 'Reported in the console', ...values, reference }
      return operate('debit', verb, { ...options, 'bank-reference': bankReference })
    }
    const path = `/api/v1/banks/debit-transactions/${uuid}/update`
    const report = { status, bank_reference: bankReference, error_message: values.reason }
    return exchange('POST', path, report, token)
  }

const bankReference = { name: 'bank-reference', label: 'Bank’s reference' }

/** The outcomes that the bank of an open debit can report. */
const BankOutcome = ({ debit, onDone }: { debit: DebitResult; onDone: () => void }) => {
  if (!mayUse('debit')) return null
  const onStage = isSandbox() ? [] : [bankReference]
  const codes = Object.entries(failures).map(([code, text]) => [text, code] as const)
  const reason = { name: 'reason', label: 'Reason and source' }
  return (
    <>
      <Action
        label="Bank: completed"
        about={`${debit.bank} debited the customer.`}
        fields={isSandbox() ? [] : [bankReference, reason]}
        movesMoney
        perform={reportOutcome(debit, 'completed')}
        done="The debit is completed."
        onDone={onDone}
      />
      <Action
        label="Bank: failed"
        about="The text of the bank selects the failure code."
        fields={[
          ...onStage,
          { name: 'reason', label: 'Failure code', options: codes, value: 'Insufficient funds' },
        ]}
        movesMoney
        perform={reportOutcome(debit, 'failed')}
        done="The debit is failed."
        onDone={onDone}
      />
    </>
  )
}

/** The calls that the status of a debit allows. */
export const DebitActions = ({ debit, reload }: { debit: DebitResult; reload: () => void }) => {
  const { reference, status, amount } = debit
  const { offers } = debitStatuses[status]
  if (offers === 'outcome') return <BankOutcome debit={debit} onDone={reload} />
  if (offers !== 'reversal') return null
  return (
    <OperatorAction
      label="Reverse"
      kind="danger"
      call={['debit', 'reverse', { reference }]}
      about={`The bank refunds ${amount} GHS to the customer, and the provider repays it.`}
      fields={[{ name: 'reason', label: 'Reason; the provider can read it' }]}
      movesMoney
      done="The debit is reversed. Its refund follows."
      onDone={reload}
    />
  )
}
