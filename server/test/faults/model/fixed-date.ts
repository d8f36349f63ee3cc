/** Preloaded into the command line by the model-based test: its commands run at the time of the test. */
const at = Number(Bun.env.PETSTORE_TEST_NOW)
Date.now = () => at
