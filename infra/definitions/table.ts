/** The one table as DynamoDB is told of it; its items are in docs/table.md. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'expiresAt',
  /** Lists: an entry holds the keys and the projected attributes, the base item holds the rest. */
  indexes: [
    // The ledger selects batches by their times without reading each.
    {
      name: 'by-status',
      partitionKey: 'byStatus',
      sortKey: 'byTime',
      projected: ['sealedAt', 'completedAt', 'completedFrom'],
    },
    // A bank filters by status and sums amounts without reading the debits.
    {
      name: 'by-customer',
      partitionKey: 'byCustomer',
      sortKey: 'byTime',
      projected: ['status', 'amount'],
    },
    { name: 'work', partitionKey: 'work', sortKey: 'due', projected: [] },
  ],
} as const

/** Every attribute that is part of some key; all are strings. */
export const keyAttributes: string[] = [
  ...new Set(
    [tableDefinition, ...tableDefinition.indexes].flatMap(({ partitionKey, sortKey }) => [
      partitionKey,
      sortKey,
    ]),
  ),
]
