import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'

/**
 * One minified ES module per function, the AWS SDK in it: what is deployed is what was tested.
 * `module` before `main` picks the packages' ES builds, which can be shaken.
 */
export const bundling: BundlingOptions = {
  format: OutputFormat.ESM,
  target: 'node24',
  minify: true,
  mainFields: ['module', 'main'],
  externalModules: [],
  // Packages that still are CommonJS ask for Node's own modules by require.
  banner:
    "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
}
