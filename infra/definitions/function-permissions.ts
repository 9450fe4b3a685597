import { type OperationName, operations } from '../../shared/api/operations.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { queueNames } from '../../shared/queues/messages.ts'
import {
  appendsToFeed,
  appliesBankReports,
  buildsBatches,
  caller,
  closesDays,
  deliversWebhooks,
  derivesLedger,
  expiresDebits,
  findsPayoutDays,
  operatesDebits,
  paysBatches,
  readsAuditedRecords,
  readsLists,
  readsOpenDebits,
  reconciles,
  recordsAccesses,
  redeliversEvents,
  refundsCustomers,
  requestsApprovals,
  requestsReversals,
  resealsSecrets,
  reversesDebits,
  servesCustomers,
  startsReconciliation,
  submitsDebits,
  sweeps,
  transitionsDebits,
  webhookQueues,
  worksInBulk,
} from './permission-groups.ts'
import { merge, type Permissions } from './permissions.ts'

/** The functions with verbs that need an approval. */
const approvable = Object.values(nouns)
  .filter(({ verbs }) => Object.values(verbs).some(({ effect }) => effect === 'money'))
  .map(({ name }) => `manage-${name}` as const)

/** Changes a bank and its connector, and reads its debits, payouts and refunds in progress. */
const connectsBanks = merge(requestsApprovals, readsOpenDebits, {
  GetItem: ['BANKS', 'BANK#*'],
  BatchGetItem: ['BATCH#*'],
  Query: ['BANKS', 'DEBIT#*'],
  PutItem: ['BANKS', 'BANK#*'],
  'by-status': ['PROVIDERS', '*#settlements', 'REFUNDS#*'],
  sealingKey: true,
})

/**
 * Lists the permissions of each function; operations also get those of `caller`. The stack builds
 * roles from the rows, the sandbox checks calls against them, and the flow tests report unused ones.
 */
const rows = {
  charge: {
    GetItem: ['DEBIT#*', 'RESTORE', 'CUSTOMER#*', 'BANK#*', 'WINDOW#missed-account#*'],
    Query: ['BANKS', 'BANK_HEALTH'],
    PutItem: ['DEBIT#*', 'PROVIDER#*#*', 'CUSTOMER#*', 'WINDOW#missed-account#*'],
    UpdateItem: ['PROVIDER#*', 'WINDOW#lookup-customer-banks#*'],
    // Asks for the account of an unknown number.
    calls: ['banks'],
  },
  'get-debit-request': { GetItem: ['DEBIT#*'] },
  'request-reversal': merge(requestsReversals, { GetItem: ['CALENDAR'] }),
  'list-debit-requests': merge(readsLists, { GetItem: ['DEBIT#*'] }),
  'list-banks': { Query: ['BANKS'] },
  'get-bank': { Query: ['BANKS', 'BANK_HEALTH'] },
  'lookup-customer-banks': { Query: ['BANKS', 'CUSTOMER#*'] },
  'list-deliveries': { GetItem: ['DEBIT#*'], Query: ['DEBIT#*'] },
  'redeliver-event': redeliversEvents,
  'list-events': {
    GetItem: ['WEBHOOK#*'],
    Query: ['FEED#*'],
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
  },
  'test-webhook': {
    ...{ GetItem: ['WEBHOOK#*'], PutItem: ['PROVIDER#*'] },
    ...{ sealingKey: true, calls: ['receivers'] },
  },
  'list-settlements': { BatchGetItem: ['BATCH#*'], 'by-status': ['*#settlements'] },
  'get-settlement': { GetItem: ['BATCH#*'] },
  'get-settlement-report': { GetItem: ['BATCH#*'], reports: ['read'] },
  'get-monthly-statement': {
    BatchGetItem: ['BATCH#*'],
    'by-status': ['*#settlements'],
    work: ['SETTLE#*'],
  },

  'list-debit-transactions': {
    GetItem: ['CUSTOMER#*', 'SWEEP'],
    BatchGetItem: ['DEBIT#*'],
    Query: ['BANKS'],
    'by-customer': ['*#+*'],
  },
  'update-debit-transaction': appliesBankReports,
  'debit-callback': appliesBankReports,

  'answer-unmatched': { UpdateItem: ['WINDOW#unmatched#*'] },

  'manage-limit': merge(requestsApprovals, {
    GetItem: ['PROVIDER#*', 'BANKS'],
    BatchGetItem: ['PROVIDER#*'],
    Query: ['BANKS'],
    PutItem: ['PROVIDER#*', 'BANKS'],
    'by-status': ['PROVIDERS'],
  }),
  'manage-connector': merge(connectsBanks, { DeleteItem: ['BANK#*'] }),
  'manage-provider': merge(requestsApprovals, readsOpenDebits, {
    GetItem: ['PROVIDER#*', 'PAYEE#*', 'BANKS'],
    BatchGetItem: ['PROVIDER#*', 'PAYEE#*', 'BATCH#*'],
    PutItem: ['PROVIDER#*', 'PAYEE#*'],
    'by-status': ['PROVIDERS', '*#settlements', 'EXCEPTIONS#*'],
    work: ['SETTLE#*', 'BELOW_ZERO#*'],
    sealingKey: true,
  }),
  'manage-credential': merge(requestsApprovals, {
    GetItem: ['PROVIDER#*', 'BANKS', 'CREDENTIAL#*'],
    BatchGetItem: ['CREDENTIAL#*'],
    PutItem: ['CREDENTIAL#*'],
    UpdateItem: ['CREDENTIAL#*'],
    'by-status': ['CREDENTIALS#*'],
  }),
  'manage-bank': merge(connectsBanks, { Query: ['BANK_HEALTH'] }),
  'manage-customer': servesCustomers,
  'manage-webhook': merge(requestsApprovals, {
    GetItem: ['PROVIDER#*', 'WEBHOOK#*'],
    PutItem: ['PROVIDER#*', 'WEBHOOK#*'],
    DeleteItem: ['WEBHOOK#*'],
    'by-status': ['PROVIDERS'],
    sealingKey: true,
    calls: ['receivers'],
  }),
  'manage-delivery': merge(redeliversEvents, recordsAccesses, {
    Query: ['DEBIT#*', 'FEED#*'],
    PutItem: ['CHANGES', 'PROVIDER#*'],
    'by-status': ['*#undelivered'],
  }),
  'manage-debit': merge(operatesDebits, {
    GetItem: ['PROVIDER#*', 'BANKS'],
    Query: ['BANKS'],
    'by-status': ['PROVIDERS'],
    'by-customer': ['*#+*'],
    sends: ['submissions'],
  }),
  'manage-exception': merge(reversesDebits, requestsApprovals, worksInBulk, recordsAccesses, {
    GetItem: ['BANKS'],
    'by-status': ['EXCEPTIONS#*'],
  }),
  'manage-change': merge(readsAuditedRecords, {
    GetItem: ['HASH_KEY', 'PROVIDER#*', 'BANKS'],
    BatchGetItem: ['CHANGES'],
    'by-status': ['CHANGES#*'],
    'by-customer': ['CHANGES#*'],
    sealingKey: true,
  }),
  'manage-approval': {
    // A request about a customer has created the key of the hashes.
    GetItem: ['APPROVALS', 'HASH_KEY'],
    BatchGetItem: ['APPROVAL#*'],
    Query: ['APPROVALS'],
    PutItem: ['ACCESSES', 'CHANGES'],
    UpdateItem: ['APPROVALS'],
    DeleteItem: ['APPROVAL#*'],
    sealingKey: true,
    invokes: approvable,
  },
  'manage-reconciliation': merge(reconciles, startsReconciliation, {
    GetItem: ['BANKS'],
    Query: ['STATEMENTS'],
    PutItem: ['CHANGES', 'STATEMENTS'],
  }),
  'manage-day': closesDays,
  'manage-ledger': merge(derivesLedger, {
    GetItem: ['BANKS', 'PROVIDER#*'],
    'by-status': ['PROVIDERS'],
    journals: ['read', 'write'],
  }),
  'manage-funding': merge(requestsApprovals, {
    GetItem: ['BANKS', 'FUNDING'],
    BatchGetItem: ['BATCH#*'],
    Query: ['FUNDING'],
    PutItem: ['FUNDING'],
    UpdateItem: ['FUNDING', 'FUNDS'],
    work: ['PAY'],
    sends: ['payments'],
  }),
  'manage-calendar': { GetItem: ['CALENDAR'], PutItem: ['CALENDAR', 'CHANGES'] },
  'manage-restore': {
    GetItem: ['RESTORE', 'PROVIDER#*'],
    PutItem: ['CHANGES', 'RESTORE'],
    'by-status': ['PROVIDERS'],
    reports: ['generation'],
  },
  'manage-secret': merge(resealsSecrets, { erasures: ['read', 'write'] }),
  'manage-dead-letters': { PutItem: ['CHANGES'], sends: queueNames, redrives: true },
  'manage-settlement': merge(buildsBatches, paysBatches, requestsApprovals, {
    'by-status': ['PROVIDERS'],
    work: ['PAY', 'FAILED', 'WATCH#*'],
    sends: ['settlements', 'payments'],
    reports: ['read', 'write'],
  }),

  relay: {
    GetItem: ['PROVIDER#*'],
    sends: [
      'submissions',
      'timeouts',
      'feeds.fifo',
      ...webhookQueues,
      'webhooks-sidelined',
      'recoveries',
      'refunds',
      // Continues an unfinished settlement run; payment runs have no continuation.
      'settlements',
      'reconciliation-parts',
    ],
  },
  'append-feed': merge(appendsToFeed, { BatchGetItem: ['DEBIT#*', 'BATCH#*'] }),
  'submit-to-bank': merge(submitsDebits, { sends: ['submissions-sidelined'] }),
  'submit-sidelined': submitsDebits,
  'report-sandbox-outcome': transitionsDebits,
  'schedule-timeout': { GetItem: ['DEBIT#*'], sends: ['expiries'], schedulesInto: 'expiries' },
  'expire-debit': expiresDebits,
  'deliver-webhook': merge(deliversWebhooks, { sends: ['webhooks-sidelined'] }),
  'deliver-sidelined-webhook': deliversWebhooks,
  'recover-deliveries': {
    GetItem: ['PROVIDER#*'],
    Query: ['DEBIT#*'],
    PutItem: ['DEBIT#*', 'PROVIDER#*'],
    'by-status': ['*#undelivered'],
  },
  'open-settlement': {
    BatchGetItem: ['BATCH#*'],
    'by-status': ['PROVIDERS'],
    work: ['PAY'],
    sends: ['settlements', 'payments'],
  },
  'build-batch': merge(buildsBatches, { reports: ['write'] }),
  'process-batch': paysBatches,
  'refund-customer': refundsCustomers,
  'reconcile-day': merge(startsReconciliation, findsPayoutDays, {
    GetItem: ['PROVIDER#*'],
    Query: ['BANKS', 'DEBIT#*', 'LEDGER'],
    // Lists providers with unfinished settlement.
    BatchGetItem: ['BATCH#*', 'DEBIT#*'],
    'by-status': ['*#settlements', 'EXCEPTIONS#*', 'REFUNDS#*'],
    // Extends debits with open exceptions or refunds.
    UpdateItem: ['DEBIT#*'],
    work: ['SETTLE#*'],
  }),
  // The end of a run seals the audit of its day.
  'reconcile-part': merge(reconciles, readsAuditedRecords, { audit: ['write'] }),
  sweep: sweeps,
} as const satisfies Record<OperationName, Permissions> & Record<string, Permissions>

export type FunctionName = keyof typeof rows
export const functionNames = Object.keys(rows) as FunctionName[]

export const permissionsOf = (name: FunctionName): Permissions =>
  name in operations ? merge(caller(name as OperationName), rows[name]) : rows[name]
