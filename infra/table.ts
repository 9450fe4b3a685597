/** The one table as DynamoDB is told of it; what is kept in it is in docs/architecture.md. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'expiresAt',
  /** Lists only: each holds keys, and what is listed is read from the table itself. */
  indexes: [
    { name: 'by-status', partitionKey: 'byStatus', sortKey: 'byTime' },
    { name: 'by-customer', partitionKey: 'byCustomer', sortKey: 'byTime' },
    { name: 'work', partitionKey: 'work', sortKey: 'due' },
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
