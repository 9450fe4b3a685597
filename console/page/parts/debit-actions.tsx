import type { FailureCode } from '../../../shared/domain/banks/failure-code.ts'
import type { DebitResult } from '../../../shared/views/operator/debit.ts'
import { exchange, tokenOf } from '../client.ts'
import { debitStatuses } from '../debit-statuses.ts'
import { Action } from './action.tsx'
import { Call, DebitPayment } from './call.tsx'

/** A text of a bank for each code. */
const failures: Record<FailureCode, string> = {
  insufficient_funds: 'Insufficient funds',
  invalid_account: 'Invalid account',
  transaction_declined: 'Transaction declined by the customer',
  timeout: 'The request timed out',
  network_error: 'Network unavailable',
  unknown_error: 'Unspecified error',
}

const codes = Object.entries(failures).map(([code, text]) => [text, code] as const)
const failure = { name: 'reason', label: 'Failure code', choices: codes }

/** The outcomes of an open debit. */
const outcomes = [
  { status: 'completed', verb: 'complete', fields: [] },
  { status: 'failed', verb: 'fail', fields: [failure] },
] as const

/** The bank of a sandbox reports with its token; an operator records what a bank reported elsewhere. */
const BankOutcome = ({ reference, bank, uuid }: DebitResult) => {
  const token = tokenOf('bank', bank)
  const report = (status: string, reason: string | undefined): Promise<unknown> => {
    const path = `/api/v1/banks/debit-transactions/${uuid}/update`
    const bank_reference = `${bank}-${uuid.slice(0, 8).toUpperCase()}`
    return exchange('POST', path, { status, bank_reference, error_message: reason }, token)
  }
  return outcomes.map(({ status, verb, fields }) => {
    const texts = { label: `Bank: ${status}`, done: `The debit is ${status}.` }
    return token ? (
      <Action
        key={status}
        {...texts}
        about={`${bank} reports the debit as ${status}.`}
        fields={fields}
        perform={({ reason }) => report(status, reason)}
      />
    ) : (
      <Call
        key={status}
        {...texts}
        of={['debit', verb, { reference }]}
        confirmation={() => <DebitPayment reference={reference} isRefund={false} />}
        texts={Object.fromEntries(fields.map((field) => [field.name, field]))}
      />
    )
  })
}

/** The calls that the status of a debit allows. */
export const DebitActions = (debit: DebitResult) => {
  const { reference, status, amount } = debit
  const { offers } = debitStatuses[status]
  if (offers === 'outcome') return <BankOutcome {...debit} />
  if (offers !== 'reversal') return null
  return (
    <Call
      of={['debit', 'reverse', { reference }]}
      about={`The bank refunds ${amount} GHS to the customer, and the provider repays it.`}
      confirmation={() => <DebitPayment reference={reference} isRefund />}
    />
  )
}
