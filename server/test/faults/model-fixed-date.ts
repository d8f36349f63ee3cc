/** Loaded before the command line by the model-based test: its commands happen at the time that the test has got to. */
const at = Number(Bun.env.PETSTORE_TEST_NOW)
Date.now = () => at
