import type { ExceptionKind, ExceptionRows } from '../../../shared/domain/debits/exception.ts'
import type { ExceptionResult } from '../../../shared/views/operator/exception.ts'
import { Call } from '../parts/call.tsx'
import { listScreen } from '../parts/list.tsx'
import type { ViewColumns } from '../parts/table.tsx'
import { By, Code, Link, Noted, prettyJson, Status, Time } from '../parts/values.tsx'

type KindRow<K extends ExceptionKind> = Pick<ExceptionRows[K], 'source' | 'refund'> & {
  title: string
}

/** `source` and `refund` must be those of the service, which may know more kinds. */
const kinds: Record<string, KindRow<ExceptionKind>> = {
  late_completion: { title: 'Late completion', source: 'report', refund: 'opens' },
  contradiction: { title: 'Contradiction', source: 'report', refund: 'none' },
  refused_report: { title: 'Refused report', source: 'report', refund: 'none' },
  refund: { title: 'Failed refund', source: 'refund', refund: 'retries' },
  reversal_request: { title: 'Reversal request', source: 'request', refund: 'reverses' },
} satisfies { [K in ExceptionKind]: KindRow<K> }

const sources: Record<ExceptionRows[ExceptionKind]['source'], string> = {
  report: 'Report of the bank',
  refund: 'Failure',
  request: 'Reason of the provider',
}

const Kind = ({ kind, meaning, code, details, report, request }: ExceptionResult) => {
  const row = kinds[kind]
  return (
    <>
      <Noted of={row?.title ?? kind}>
        {meaning ?? 'Only a later version of the service knows this kind'}
        {request && <By label={`${request.kind}, to decide by `} name={request.respond_by} />}
      </Noted>
      <details>
        <summary>
          <small>{row ? sources[row.source] : 'Report'}</small>
        </summary>
        {report !== null && <Code label="Report" text={prettyJson(report)} />}
        {code !== null && (
          <small>
            The service replied {code}
            {details && `: ${JSON.stringify(details)}`}
          </small>
        )}
      </details>
    </>
  )
}

const Actions = ({ reference, kind, resolved_at }: ExceptionResult) => {
  const row = kinds[kind]
  if (resolved_at || !row) return null
  const isRequest = row.source === 'request'
  return (
    <div class="row">
      <Call
        label={isRequest ? 'Decline' : 'Resolve'}
        of={['exception', 'resolve', { reference, kind }]}
        about={`Resolves the open exceptions of ${reference} of this kind. Changes nothing else.`}
        only={['note']}
        texts={{ note: { label: isRequest ? 'Note to the provider' : 'Resolution' } }}
        done={isRequest ? 'The request is declined.' : 'The exception is resolved.'}
      />
      {row.refund !== 'none' && (
        <Call
          label={isRequest ? 'Reverse' : 'Refund'}
          of={['exception', 'refund', { reference }]}
          about="The bank refunds the customer. The exceptions of the debit are resolved."
        />
      )}
    </div>
  )
}

/** The columns of an exception, without its debit. */
export const exceptionColumns: ViewColumns<ExceptionResult> = {
  Exception: { wide: Kind },
  'Amount (GHS)': 'amount',
  Status: ({ resolved_at, resolved_by, note }) => (
    <Noted of={<Status value={resolved_at ? 'resolved' : 'open'} />}>
      {resolved_at && <Time at={resolved_at} />}
      {resolved_by && <By label={`${note}, by `} name={resolved_by} />}
    </Noted>
  ),
  '': Actions,
}

export const ExceptionsScreen = listScreen({
  about: () =>
    'Rejected bank reports, failed refunds and requests of providers. An operator resolves each.',
  noun: 'exception',
  entities: ['exception'],
  columns: {
    Reported: 'at',
    Debit: ({ reference, provider, bank, debit_status: status }) => (
      <Noted of={<Link id={reference} />}>
        {`${provider}, ${bank}${status ? `, was ${status}` : ''}`}
      </Noted>
    ),
    ...exceptionColumns,
  },
  empty: [
    'No exceptions',
    'A rejected bank report, a failed refund or a reversal request appears here at once.',
  ],
})
