import type { FailureCode } from '../../../shared/domain/banks/failure-code.ts'
import type { DebitResult } from '../../../shared/views/operator/debit.ts'
import { type CallOptions, exchange, tokenOf } from '../client.ts'
import { debitStatuses } from '../debit-statuses.ts'
import { Action, OperatorAction } from './action.tsx'
import { DebitPayment } from './money.tsx'

/** A text of a bank for each code. */
const failures: Record<FailureCode, string> = {
  insufficient_funds: 'Insufficient funds',
  invalid_account: 'Invalid account',
  transaction_declined: 'Transaction declined by the customer',
  timeout: 'The request timed out',
  network_error: 'Network unavailable',
  unknown_error: 'Unspecified error',
}

/** Reports an outcome with the token of the bank of a sandbox. */
const reportOutcome =
  ({ uuid, bank }: DebitResult, status: 'completed' | 'failed', token: string) =>
  (values: CallOptions): Promise<unknown> => {
    const bankReference = `${bank}-${uuid.slice(0, 8).toUpperCase()}`
    const path = `/api/v1/banks/debit-transactions/${uuid}/update`
    const report = { status, bank_reference: bankReference, error_message: values.reason }
    return exchange('POST', path, report, token)
  }

const codes = Object.entries(failures).map(([code, text]) => [text, code] as const)
const failure = { name: 'reason', label: 'Failure code', options: codes } as const

/** The outcomes of an open debit: the bank of a sandbox reports them, or an operator records them. */
const outcomes = [
  {
    label: 'Bank: completed',
    status: 'completed',
    verb: 'complete',
    fields: [],
    done: 'The debit is completed.',
  },
  {
    label: 'Bank: failed',
    status: 'failed',
    verb: 'fail',
    fields: [failure],
    done: 'The debit is failed.',
  },
] as const

const BankOutcome = ({ debit, onDone }: { debit: DebitResult; onDone: () => void }) => {
  const token = tokenOf('bank', debit.bank)
  const { reference, bank } = debit
  return outcomes.map(({ status, verb, fields, ...texts }) =>
    token ? (
      <Action
        key={status}
        {...texts}
        about={`${bank} reports the debit as ${status}.`}
        fields={fields}
        perform={reportOutcome(debit, status, token)}
        onDone={onDone}
      />
    ) : (
      <OperatorAction
        key={status}
        {...texts}
        call={['debit', verb, { reference }]}
        about={`Records that ${bank} reported the debit as ${status} outside the API.`}
        confirmation={() => <DebitPayment reference={reference} isRefund={false} />}
        texts={fields[0] ? { reason: fields[0] } : {}}
        movesMoney
        onDone={onDone}
      />
    ),
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
      confirmation={() => <DebitPayment reference={reference} isRefund />}
      movesMoney
      done="The debit is reversed. Its refund follows."
      onDone={reload}
    />
  )
}
