import type { ImportResult } from '../../domain/banks/customer-import.ts'
import type { BankDebitsPage, OutgoingPage } from '../../domain/banks/statement.ts'
import type { StatementFormat } from '../../domain/banks/statement-format.ts'
import type { Reference } from '../../domain/ids.ts'
import type { BulkId, BulkProgress, BulkResult } from '../../domain/operator/bulk.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Day } from '../../domain/time.ts'
import type { BatchResult, SettlementReport } from '../batch.ts'
import type { DeliveryResult, DeliveryWithAttempts, PingResult } from '../delivery.ts'
import type { MonthlyStatementResult } from '../monthly-statement.ts'
import type { RefundResult } from '../refund.ts'
import type { ApprovalResult } from './approval.ts'
import type { BankResult, SavedConnection } from './bank.ts'
import type { CalendarResult } from './calendar.ts'
import type { ChangeResult, DayVerdict } from './change.ts'
import type { ConnectorResult } from './connector.ts'
import type { CredentialResult, IssuedResult } from './credential.ts'
import type {
  AccessResult,
  AccountResult,
  CustomerExport,
  ErasureResult,
  RepeatedErasures,
} from './customer.ts'
import type { DayResult } from './day.ts'
import type { DeadLettersResult, RedriveResult } from './dead-letters.ts'
import type { DebitResult, DebitSummary } from './debit.ts'
import type { RecoveryResult, SentDelivery } from './delivery.ts'
import type { ExceptionResult, RequestsSummary } from './exception.ts'
import type { FundingResult } from './funding.ts'
import type { AccountStatementResult, JournalResult } from './ledger.ts'
import type { LimitResult, UsageResult } from './limit.ts'
import type { ProviderResult, RequestSecretResult } from './provider.ts'
import type { ReconciliationResult } from './reconciliation.ts'
import type { RestoreResult } from './restore.ts'
import type { ResealResult } from './secret.ts'
import type { SettlementRunResult } from './settlement.ts'
import type { HealthResult, WebhookResult, WebhookSecretResult, WebhookSummary } from './webhook.ts'

/** Options of each form on which the type of a result depends. */
type AnyOptions = object | { reference: string; format: 'csv' } | { format: 'html' }

/** A document as JSON or CSV text; `Large` is one that the caller must download. */
type Formatted<Options, Document, Large> =
  | (Options extends { format: 'csv' } ? string : Document)
  | Large

/** The result of a call about one debit, or about many. */
type OneOrMany<Options, One> =
  | (Options extends { reference: string } ? never : BulkResult | BulkProgress)
  | One

/** The result of each verb, as its function returns it and its callers read it from JSON. */
export type OperatorResults<Options = AnyOptions> = {
  provider: Record<'create' | 'update' | 'show' | 'disable' | 'enable', ProviderResult> & {
    list: ProviderResult[]
    'rotate-request-secret': RequestSecretResult
  }
  credential: {
    issue: IssuedResult
    list: CredentialResult[]
    show: CredentialResult
    revoke: { revoked: boolean }
  }
  limit: Record<'set' | 'remove', LimitResult> & {
    show: LimitResult & Partial<UsageResult>
    list: LimitResult[]
  }
  bank: Record<'show' | 'disable' | 'enable' | 'behave', BankResult> & {
    create: BankResult & SavedConnection
    update: BankResult & SavedConnection
    list: BankResult[]
  }
  connector: {
    set: ConnectorResult & Pick<SavedConnection, 'connector_secret'>
    show: ConnectorResult
    list: ConnectorResult[]
    remove: ConnectorResult
  }
  customer: {
    link: AccountResult
    show: AccountResult
    list: AccountResult[]
    unlink: { unlinked: boolean }
    erase: ErasureResult
    'repeat-erasures': RepeatedErasures
    export: CustomerExport | { download: string }
    accesses: AccessResult[]
    import: ImportResult | BulkProgress
    upload: { bulk: BulkId }
  }
  webhook: {
    set: WebhookSecretResult<string | null>
    show: WebhookResult
    list: WebhookSummary[]
    enable: HealthResult
    ping: PingResult
    'rotate-secret': WebhookSecretResult<string>
    remove: { removed: boolean }
  }
  delivery: {
    list: Options extends { reference: string } ? DeliveryWithAttempts[] : DeliveryResult[]
    show: SentDelivery
    redeliver: DeliveryResult
    recover: RecoveryResult
  }
  debit: Record<'show' | 'reverse' | 'complete' | 'fail' | 'fail-refund', DebitResult> & {
    list: DebitSummary[]
    repair: {
      provider: ProviderId
      date: Day
      looked_at: number
      repaired: string[]
      unreadable: string[]
      is_done: boolean
    }
  }
  exception: {
    list: ExceptionResult[]
    summary: RequestsSummary
    show: ExceptionResult[]
    refund: OneOrMany<Options, { reference: Reference; refund: RefundResult }>
    resolve: OneOrMany<Options, ExceptionResult[]>
    upload: { bulk: BulkId }
  }
  settlement: Record<'show' | 'process' | 'complete' | 'fail' | 'retry', BatchResult> & {
    run: SettlementRunResult
    list: BatchResult[]
    report: Formatted<Options, SettlementReport, { download: string }>
    statement: Options extends { format: 'csv' | 'html' } ? string : MonthlyStatementResult
  }
  calendar: Record<'set' | 'add' | 'remove' | 'show', CalendarResult>
  reconciliation: {
    /** A check of a large day returns the run that the next call continues. */
    run: ReconciliationResult | { run: string }
    /** By the request that the command makes. */
    statement: BankDebitsPage | OutgoingPage | StatementFormat | { stored: boolean }
  }
  day: { close: Options extends { format: 'html' } ? string : DayResult }
  ledger: {
    show: Formatted<Options, JournalResult, { download: string }>
    account: AccountStatementResult
  }
  funding: { record: FundingResult; correct: FundingResult; list: FundingResult[] }
  approval: {
    list: ApprovalResult[]
    show: ApprovalResult
    /** The result of the granted call. */
    grant: unknown
    deny: ApprovalResult
  }
  restore: {
    begin: RestoreResult
    release: RestoreResult
    show: RestoreResult & { highest_generation: number }
  }
  change: { list: ChangeResult[]; verify: DayVerdict[] }
  secret: { reseal: ResealResult }
  'dead-letters': { list: DeadLettersResult[]; redrive: RedriveResult }
}
