import '../design/tokens.css'
import '../design/base.css'
import './styles/layout.css'
import './styles/text.css'
import './styles/reference.css'
import { applyTheme } from '../design/theme.ts'
import { renderPage } from '../shared/render-page.ts'
import { DocsApp } from './shell/docs-app.tsx'

applyTheme()
renderPage(<DocsApp />)
