<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>catalogue</name>
    <message>
        <source>Tiny and English only: made for trying the program out, its answers are often wrong.</source>
        <translation>极小，只会英文：用来试用本程序，回答经常出错。</translation>
    </message>
    <message>
        <source>A base model without a chat template: it continues text and was not trained to answer. Its four part packages hold the file in pieces.</source>
        <translation>没有对话模板的基础模型：只会续写文本，没有经过问答训练。文件分成四块，放在四个软件包里。</translation>
    </message>
    <message>
        <source>Small and quick; for short, simple answers.</source>
        <translation>小而快，适合简短的回答。</translation>
    </message>
    <message>
        <source>Small and fast, for everyday questions and short texts.</source>
        <translation>小而快，适合日常问题和短文。</translation>
    </message>
    <message>
        <source>A general expert for machines without a large graphics card; thinks before it answers when asked to.</source>
        <translation>通用专家，适合没有大显存显卡的电脑；需要时会先思考再回答。</translation>
    </message>
    <message>
        <source>Small and fast, never thinks; cheap in long chats, because its plain attention keeps what it has read.</source>
        <translation>小而快，从不思考；它的普通注意力会保留读过的内容，所以长对话开销小。</translation>
    </message>
    <message>
        <source>Writing and many languages on machines with 8 GB.</source>
        <translation>写作和多种语言，适合 8 GB 内存的电脑。</translation>
    </message>
    <message>
        <source>A general expert for cards of 8 GB and more; strong in mathematics and reasoning when it thinks.</source>
        <translation>通用专家，适合 8 GB 以上显存的显卡；思考时擅长数学和推理。</translation>
    </message>
    <message>
        <source>Writing, for cards of 12 GB.</source>
        <translation>写作，适合 12 GB 显存的显卡。</translation>
    </message>
    <message>
        <source>For code, on cards of 8 GB.</source>
        <translation>编写代码，适合 8 GB 显存的显卡。</translation>
    </message>
    <message>
        <source>For code: a mixture of 128 experts, 8 of which work on each token, so it is quick where it fits.</source>
        <translation>编写代码：由 128 个专家混合而成，每个词元只用其中 8 个，放得下时速度很快。</translation>
    </message>
    <message>
        <source>For translation only, between 33 languages.</source>
        <translation>只做翻译，支持 33 种语言互译。</translation>
    </message>
    <message>
        <source>The main expert for cards of 24 GB: reasoning, code, long Chinese texts.</source>
        <translation>24 GB 显存显卡的主力专家：推理、代码、中文长文。</translation>
    </message>
    <message>
        <source>Writing of high quality, for cards of 24 GB with a short context.</source>
        <translation>高质量写作，适合 24 GB 显存的显卡，上下文要短。</translation>
    </message>
    <message>
        <source>A mixture of 256 experts, 8 of which work on each token: quick on 24 GB, and good on a processor with much memory.</source>
        <translation>由 256 个专家混合而成，每个词元只用其中 8 个：24 GB 显存上很快，在内存充足的处理器上也不错。</translation>
    </message>
    <message>
        <source>A mixture of 32 experts that always reasons first, for cards of 16 GB.</source>
        <translation>由 32 个专家混合而成，总是先推理，适合 16 GB 显存的显卡。</translation>
    </message>
    <message>
        <source>A small mixture of experts, quick on a processor. Its licence is free only for those who earn less than 10 million US dollars a year.</source>
        <translation>小型混合专家模型，在处理器上也很快。其许可证只对年收入低于 1000 万美元者免费。</translation>
    </message>
    <message>
        <source>A router for Chinese and English requests: 322 million parameters, 1024 tokens.</source>
        <translation>用于中文和英文请求的路由器：3.22 亿参数，1024 个词元。</translation>
    </message>
    <message>
        <source>A router for English requests: 421 million parameters, 512 tokens.</source>
        <translation>用于英文请求的路由器：4.21 亿参数，512 个词元。</translation>
    </message>
    <message>
        <source>A router for English requests that was trained on typed decisions: 421 million parameters, 1024 tokens.</source>
        <translation>用于英文请求的路由器，按类型化决策训练：4.21 亿参数，1024 个词元。</translation>
    </message>
</context>
<context>
    <name>labels</name>
    <message>
        <source>chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>写作</translation>
    </message>
    <message>
        <source>rewriting</source>
        <translation>改写</translation>
    </message>
    <message>
        <source>translation</source>
        <translation>翻译</translation>
    </message>
    <message>
        <source>summaries</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>extraction</source>
        <translation>信息提取</translation>
    </message>
    <message>
        <source>code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>math</source>
        <translation>数学</translation>
    </message>
    <message>
        <source>reasoning</source>
        <translation>推理</translation>
    </message>
    <message>
        <source>knowledge</source>
        <translation>知识</translation>
    </message>
    <message>
        <source>advice</source>
        <translation>建议</translation>
    </message>
    <message>
        <source>role play</source>
        <translation>角色扮演</translation>
    </message>
    <message>
        <source>general</source>
        <translation>通用</translation>
    </message>
    <message>
        <source>daily life</source>
        <translation>日常生活</translation>
    </message>
    <message>
        <source>programming</source>
        <translation>编程</translation>
    </message>
    <message>
        <source>science</source>
        <translation>科学</translation>
    </message>
    <message>
        <source>medicine</source>
        <translation>医学</translation>
    </message>
    <message>
        <source>law</source>
        <translation>法律</translation>
    </message>
    <message>
        <source>finance</source>
        <translation>金融</translation>
    </message>
    <message>
        <source>humanities</source>
        <translation>人文</translation>
    </message>
</context>
<context>
    <name>AboutDialog</name>
    <message>
        <source>About LayaDesk</source>
        <translation>关于 LayaDesk</translation>
    </message>
    <message>
        <source>Parts and their licences</source>
        <translation>组件及其许可证</translation>
    </message>
    <message>
        <source>Python {python} on {system}</source>
        <translation>Python {python}，运行于 {system}</translation>
    </message>
    <message>
        <source>Your chats, settings and models: {folder}</source>
        <translation>你的聊天、设置和模型：{folder}</translation>
    </message>
    <message>
        <source>LayaDesk is free software under the Apache License 2.0. It uses Qt and PySide6 under the GNU LGPL, version 3, as separate libraries that you may replace with changed versions of them.</source>
        <translation>LayaDesk 是以 Apache License 2.0 发布的自由软件。它以独立库的形式使用 Qt 和 PySide6（GNU LGPL 第 3 版），你可以用修改后的版本替换它们。</translation>
    </message>
    <message>
        <source>The sign of LayaDesk</source>
        <translation>LayaDesk 标志</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>licence: see its own files</source>
        <translation>许可证：见其自带文件</translation>
    </message>
    <message>
        <source>Not installed as a package, so its parts are not known.</source>
        <translation>不是以软件包形式安装的，因此不知道其组成部分。</translation>
    </message>
</context>
<context>
    <name>AlertBanner</name>
    <message>
        <source>Free memory…</source>
        <translation>释放内存…</translation>
    </message>
    <message>
        <source>Shorten the context to {n_ctx} tokens and load again</source>
        <translation>把上下文缩短到 {n_ctx} 个 token 并重新加载</translation>
    </message>
    <message>
        <source>Move to the smaller expert {name}</source>
        <translation>换用更小的专家 {name}</translation>
    </message>
    <message>
        <source>Stop and unload now; the text is kept</source>
        <translation>立即停止并卸载；文字会保留</translation>
    </message>
</context>
<context>
    <name>AnswerMenu</name>
    <message>
        <source>More for this answer</source>
        <translation>更多操作</translation>
    </message>
    <message>
        <source>Wrong route</source>
        <translation>路由错误</translation>
    </message>
    <message>
        <source>The route was right</source>
        <translation>路由正确</translation>
    </message>
    <message>
        <source>Answer with</source>
        <translation>改由以下专家回答</translation>
    </message>
    <message>
        <source>Show on the charts</source>
        <translation>在图表中显示</translation>
    </message>
    <message>
        <source>The task was</source>
        <translation>任务其实是</translation>
    </message>
</context>
<context>
    <name>ContextWarning</name>
    <message>
        <source>This message is probably too long: it has about {n} tokens, and the context holds {n_ctx}.</source>
        <translation>这条消息可能太长：约 {n} 个 token，而上下文只能容纳 {n_ctx} 个。</translation>
    </message>
    <message>
        <source>This message is too long: it has {n} tokens, and the context holds {n_ctx}.</source>
        <translation>这条消息太长：{n} 个 token，而上下文只能容纳 {n_ctx} 个。</translation>
    </message>
    <message numerus="yes">
        <source>%n older message(s) will be left out: {n_whole} tokens and an answer exceed the context of {n_ctx}.</source>
        <translation><numerusform>将省略最早的 %n 条消息：{n_whole} 个 token 加上回答放不进 {n_ctx} 的上下文。</numerusform></translation>
    </message>
</context>
<context>
    <name>DraftsView</name>
    <message numerus="yes">
        <source>%n draft(s) before this answer</source>
        <translation><numerusform>这个回答之前的 %n 份草稿</numerusform></translation>
    </message>
    <message>
        <source>It wrote nothing.</source>
        <translation>它什么也没写。</translation>
    </message>
</context>
<context>
    <name>AnswerStatus</name>
    <message>
        <source>Answer again</source>
        <translation>重新回答</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>What was written until then is kept.</source>
        <translation>已生成的内容已保留。</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续写</translation>
    </message>
</context>
<context>
    <name>AnswerView</name>
    <message>
        <source>Show the whole route</source>
        <translation>查看完整路由</translation>
    </message>
    <message numerus="yes">
        <source>%n older message(s) were left out, because the conversation is longer than the context.</source>
        <translation><numerusform>对话超出了上下文长度，较早的 %n 条消息未被包含。</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation><numerusform>%n 个 token</numerusform></translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>重新回答</translation>
    </message>
    <message>
        <source>Answer of {name}</source>
        <translation>{name} 的回答</translation>
    </message>
    <message>
        <source>Expert: {name}</source>
        <translation>专家：{name}</translation>
    </message>
    <message>
        <source>first token {time}</source>
        <translation>首个 token {time}</translation>
    </message>
    <message>
        <source>reused {n} of {total}</source>
        <translation>复用 {n} / {total}</translation>
    </message>
    <message>
        <source>{n} tok/s</source>
        <translation>{n} token/秒</translation>
    </message>
    <message numerus="yes">
        <source>%n older message(s) were left out; {n_prompt} tokens were read, and the context holds {n_ctx}.</source>
        <translation><numerusform>已省略最早的 %n 条消息；读入 {n_prompt} 个 token，上下文容量为 {n_ctx}。</numerusform></translation>
    </message>
    <message>
        <source>tokens: n/a</source>
        <translation>token：未知</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Close this message</source>
        <translation>关闭此消息</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
    <message>
        <source>Show the last lines of the log</source>
        <translation>显示日志的最后几行</translation>
    </message>
    <message>
        <source>The last lines of the log</source>
        <translation>日志的最后几行</translation>
    </message>
</context>
<context>
    <name>ChatPage</name>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>The answer is complete.</source>
        <translation>回答已完成。</translation>
    </message>
</context>
<context>
    <name>CodeView</name>
    <message>
        <source>Code in {language}</source>
        <translation>{language} 代码</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <translation>复制代码</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Attach files</source>
        <translation>附加文件</translation>
    </message>
    <message>
        <source>Text, code, PDF (*)</source>
        <translation>文本、代码、PDF (*)</translation>
    </message>
    <message>
        <source>Attach text, code or a PDF</source>
        <translation>附加文本、代码或 PDF</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Enter sends · Shift+Enter breaks the line</source>
        <translation>Enter 发送 · Shift+Enter 换行</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Message…</source>
        <translation>输入消息…</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
</context>
<context>
    <name>ContextGauge</name>
    <message>
        <source>context {used} of {total}, almost full</source>
        <translation>上下文 {used} / {total}，快满了</translation>
    </message>
    <message>
        <source>context {used} of {total}</source>
        <translation>上下文 {used} / {total}</translation>
    </message>
    <message>
        <source>context about {used} of {total}</source>
        <translation>上下文约 {used} / {total}</translation>
    </message>
    <message>
        <source>Tokens of this conversation in the expert's context, with what you are writing</source>
        <translation>本对话（含正在输入的内容）在专家上下文中占用的 token 数</translation>
    </message>
    <message>
        <source>Estimated: the expert counts exactly as soon as it is in memory.</source>
        <translation>这是估算值：专家载入内存后会给出准确数字。</translation>
    </message>
</context>
<context>
    <name>ConversationDelegate</name>
    <message>
        <source>New title</source>
        <translation>新标题</translation>
    </message>
</context>
<context>
    <name>ConversationItemModel</name>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>最近 7 天</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Older</source>
        <translation>更早</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>{title}, an answer is being written</source>
        <translation>{title}，正在生成回答</translation>
    </message>
</context>
<context>
    <name>ConversationList</name>
    <message>
        <source>Nothing was found.</source>
        <translation>没有找到结果。</translation>
    </message>
    <message>
        <source>Search results</source>
        <translation>搜索结果</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>对话列表</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Your conversations will be listed here.</source>
        <translation>你的对话会显示在这里。</translation>
    </message>
</context>
<context>
    <name>ConversationMenu</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Move here</source>
        <translation>移入</translation>
    </message>
    <message>
        <source>Name of the folder:</source>
        <translation>文件夹名称：</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>新建文件夹</translation>
    </message>
    <message>
        <source>New folder…</source>
        <translation>新建文件夹…</translation>
    </message>
    <message>
        <source>No folder</source>
        <translation>移出文件夹</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>JSON, with everything…</source>
        <translation>JSON（完整内容）…</translation>
    </message>
    <message>
        <source>Markdown, to read…</source>
        <translation>Markdown（便于阅读）…</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Pin to the top</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
</context>
<context>
    <name>CopyButton</name>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <translation>复制消息</translation>
    </message>
</context>
<context>
    <name>ExpertPicker</name>
    <message>
        <source>{name} (file missing)</source>
        <translation>{name}（文件缺失）</translation>
    </message>
    <message>
        <source>Add a model file…</source>
        <translation>添加模型文件…</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Auto: the router chooses</source>
        <translation>自动：由路由模型选择</translation>
    </message>
    <message>
        <source>Expert: {name}</source>
        <translation>专家：{name}</translation>
    </message>
    <message>
        <source>Its file is missing.</source>
        <translation>模型文件不见了。</translation>
    </message>
    <message>
        <source>Who answers in this conversation</source>
        <translation>由谁回答本对话</translation>
    </message>
    <message>
        <source>{name} (loaded)</source>
        <translation>{name}（已加载）</translation>
    </message>
    <message>
        <source>{name}: no answer</source>
        <translation>{name}：没有回应</translation>
    </message>
</context>
<context>
    <name>ExpertRows</name>
    <message>
        <source>Loading of each expert</source>
        <translation>各专家的加载方式</translation>
    </message>
    <message>
        <source>There is no expert yet.</source>
        <translation>还没有专家。</translation>
    </message>
    <message>
        <source>The planner chooses for this machine. You can choose otherwise for each expert, and see what it takes.</source>
        <translation>规划器会按这台机器选择。你可以为每个专家另行选择，并看到占用多少内存。</translation>
    </message>
    <message>
        <source>chosen by you</source>
        <translation>由你选择</translation>
    </message>
    <message>
        <source>as the planner chooses</source>
        <translation>由规划器选择</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>更改…</translation>
    </message>
    <message>
        <source>Change how {name} is loaded</source>
        <translation>更改 {name} 的加载方式</translation>
    </message>
</context>
<context>
    <name>FindingRow</name>
    <message>
        <source>good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>could be better</source>
        <translation>可改进</translation>
    </message>
    <message>
        <source>in the way</source>
        <translation>有问题</translation>
    </message>
</context>
<context>
    <name>HealthPage</name>
    <message>
        <source>Health</source>
        <translation>体检</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新检查</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>Everything is as it should be.</source>
        <translation>一切正常。</translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) stand in the way of an answer.</source>
        <translation><numerusform>有 %n 个问题妨碍回答。</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>It works. %n thing(s) could be better.</source>
        <translation><numerusform>可以使用，有 %n 处可以改进。</numerusform></translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Versions, devices, settings, figures and the engine's last log; never what you wrote</source>
        <translation>版本、设备、设置、数据和引擎最近的日志；绝不包含你写的内容</translation>
    </message>
</context>
<context>
    <name>Legend</name>
    <message>
        <source>others</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>VRAM ours</source>
        <translation>显存 本程序</translation>
    </message>
    <message>
        <source>RAM ours</source>
        <translation>内存 本程序</translation>
    </message>
    <message>
        <source>GPU in RAM</source>
        <translation>GPU 占用的内存</translation>
    </message>
    <message>
        <source>weights, cached</source>
        <translation>权重（缓存）</translation>
    </message>
    <message>
        <source>swap</source>
        <translation>交换空间</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU 负载</translation>
    </message>
    <message>
        <source>memory busy</source>
        <translation>显存繁忙</translation>
    </message>
    <message>
        <source>power</source>
        <translation>功率</translation>
    </message>
    <message>
        <source>engine on the processor</source>
        <translation>引擎占用的处理器</translation>
    </message>
    <message>
        <source>{value} tok/s (top {top})</source>
        <translation>{value} tok/s（最高 {top}）</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>读取</translation>
    </message>
    <message>
        <source>read again from disk</source>
        <translation>从磁盘重读</translation>
    </message>
    <message>
        <source>Nothing has been computed yet.</source>
        <translation>还没有计算任务。</translation>
    </message>
</context>
<context>
    <name>LinkQuestion</name>
    <message>
        <source>Open a link</source>
        <translation>打开链接</translation>
    </message>
    <message>
        <source>This link leaves LayaDesk and is opened in your browser:</source>
        <translation>此链接将离开 LayaDesk，在浏览器中打开：</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>ListActions</name>
    <message>
        <source>Written to {path}</source>
        <translation>已写入 {path}</translation>
    </message>
    <message numerus="yes">
        <source>%n record(s) could not be read.</source>
        <translation><numerusform>有 %n 条记录无法读取。</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s) came in.</source>
        <translation><numerusform>已导入 %n 个对话。</numerusform></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>The conversation was deleted.</source>
        <translation>对话已删除。</translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s) were deleted.</source>
        <translation><numerusform>已删除 %n 个对话。</numerusform></translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Exports (*.json *.zip)</source>
        <translation>导出文件 (*.json *.zip)</translation>
    </message>
    <message>
        <source>Import conversations</source>
        <translation>导入对话</translation>
    </message>
</context>
<context>
    <name>LoadDialog</name>
    <message>
        <source>Loading {name}</source>
        <translation>加载 {name}</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>one per core</source>
        <translation>每个物理核一个</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Planner's values</source>
        <translation>恢复规划值</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Context, tokens</source>
        <translation>上下文（token）</translation>
    </message>
    <message>
        <source>Answers at the same time</source>
        <translation>同时回答数</translation>
    </message>
    <message>
        <source>Layers on the GPU</source>
        <translation>放到 GPU 的层数</translation>
    </message>
    <message>
        <source>Layers whose MoE experts stay on the CPU</source>
        <translation>MoE 专家留在 CPU 的层数</translation>
    </message>
    <message>
        <source>CPU threads</source>
        <translation>CPU 线程数</translation>
    </message>
    <message>
        <source>Tokens read at once</source>
        <translation>每次读入的 token 数</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation>Flash attention（快速注意力）</translation>
    </message>
    <message>
        <source>Map the file into memory</source>
        <translation>将文件映射到内存</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>Holds from the next load on.</source>
        <translation>从下次加载起生效。</translation>
    </message>
    <message>
        <source>It is in memory now and is loaded anew with the next message.</source>
        <translation>它现在在内存中，下一条消息时会重新加载。</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Machine and route</source>
        <translation>本机与路由</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>NavigationRail</name>
    <message>
        <source>Chat</source>
        <translation>聊天</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Routes</source>
        <translation>路由</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>体检</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Inside</source>
        <translation>内部</translation>
    </message>
</context>
<context>
    <name>OptionsButton</name>
    <message>
        <source>About LayaDesk</source>
        <translation>关于 LayaDesk</translation>
    </message>
    <message>
        <source>Export all conversations…</source>
        <translation>导出全部对话…</translation>
    </message>
    <message>
        <source>Import conversations…</source>
        <translation>导入对话…</translation>
    </message>
    <message>
        <source>Add a model file…</source>
        <translation>添加模型文件…</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Follow the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Options</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>Deleted conversations…</source>
        <translation>已删除的对话…</translation>
    </message>
</context>
<context>
    <name>Prose</name>
    <message>
        <source>[picture, not loaded: {words}]</source>
        <translation>[图片，未加载：{words}]</translation>
    </message>
    <message>
        <source>… and {n} more characters; Copy takes all of them</source>
        <translation>……还有 {n} 个字符；复制时包含全部</translation>
    </message>
</context>
<context>
    <name>QuestionView</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <translation>编辑消息</translation>
    </message>
    <message>
        <source>Edit your message</source>
        <translation>编辑你的消息</translation>
    </message>
    <message>
        <source>Send again</source>
        <translation>重新发送</translation>
    </message>
    <message>
        <source>Your message</source>
        <translation>你的消息</translation>
    </message>
</context>
<context>
    <name>ResourceCard</name>
    <message>
        <source>Ours is what the engine and the router hold for themselves. Weights that are read from the model file count as cache: the system takes that memory back when it needs it.</source>
        <translation>“本程序”指引擎和路由模型自身占用的内存。从模型文件读入的权重算作缓存，系统需要时可以收回。</translation>
    </message>
    <message>
        <source>Ours is what the engine holds on this GPU.</source>
        <translation>“本程序”指引擎在这块 GPU 上占用的显存。</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Swap</source>
        <translation>交换空间</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>in {incoming} · out {outgoing}</source>
        <translation>换入 {incoming} · 换出 {outgoing}</translation>
    </message>
    <message>
        <source>others</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>ours</source>
        <translation>本程序</translation>
    </message>
    <message>
        <source>ours: {why}</source>
        <translation>本程序：{why}</translation>
    </message>
    <message>
        <source>GPU in RAM</source>
        <translation>GPU 占用的内存</translation>
    </message>
    <message>
        <source>weights in RAM {figure}</source>
        <translation>内存中的权重 {figure}</translation>
    </message>
    <message>
        <source>compressed in RAM: {size}</source>
        <translation>内存中的压缩部分：{size}</translation>
    </message>
    <message>
        <source>This GPU works in the machine's RAM: the two are the same memory and are not added up.</source>
        <translation>此 GPU 使用本机内存：两者是同一块内存，不相加。</translation>
    </message>
</context>
<context>
    <name>ResourcePanel</name>
    <message>
        <source>Machine</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>VRAM: {what}</source>
        <translation>显存：{what}</translation>
    </message>
    <message>
        <source>Waiting for the first reading…</source>
        <translation>正在等待第一次读数…</translation>
    </message>
    <message numerus="yes">
        <source>Show the last %n minute(s)</source>
        <translation><numerusform>显示最近 %n 分钟</numerusform></translation>
    </message>
    <message>
        <source>Sampling is slowed down: one reading took {took} ms.</source>
        <translation>采样已放慢：一次读取用了 {took} ms。</translation>
    </message>
    <message>
        <source>Point at the last answer</source>
        <translation>在图表中指出最近的回答</translation>
    </message>
    <message>
        <source>That answer is not on the charts: they show the last half hour, as far as LayaDesk was running.</source>
        <translation>该回答不在图表中：图表只显示 LayaDesk 启动后最近半小时内的回答。</translation>
    </message>
</context>
<context>
    <name>RoutePanel</name>
    <message>
        <source>Tasks</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>Domains</source>
        <translation>领域</translation>
    </message>
    <message>
        <source>Loaded in</source>
        <translation>加载用时</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首个 token</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Choosing an expert…</source>
        <translation>正在选择专家…</translation>
    </message>
    <message>
        <source>Complexity</source>
        <translation>复杂度</translation>
    </message>
    <message>
        <source>Decided in</source>
        <translation>决策用时</translation>
    </message>
    <message>
        <source>Domain</source>
        <translation>领域</translation>
    </message>
    <message>
        <source>Last route</source>
        <translation>最近一次路由</translation>
    </message>
    <message>
        <source>No route was kept for this answer.</source>
        <translation>这条回答没有保存路由记录。</translation>
    </message>
    <message>
        <source>Route to {name}</source>
        <translation>路由到 {name}</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>This answer failed before an expert was chosen.</source>
        <translation>还没有选定专家，这次回答就失败了。</translation>
    </message>
    <message>
        <source>Who answered, and why, stands here after the first answer.</source>
        <translation>有了第一条回答之后，这里会说明由谁回答以及原因。</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>选中</translation>
    </message>
    <message>
        <source>considered</source>
        <translation>候选</translation>
    </message>
    <message>
        <source>no opinion</source>
        <translation>无意见</translation>
    </message>
    <message>
        <source>out: {why}</source>
        <translation>排除：{why}</translation>
    </message>
</context>
<context>
    <name>SearchBox</name>
    <message>
        <source>Search all conversations</source>
        <translation>搜索全部对话</translation>
    </message>
    <message>
        <source>Search…</source>
        <translation>搜索…</translation>
    </message>
</context>
<context>
    <name>SiblingSwitcher</name>
    <message>
        <source>Show the next version</source>
        <translation>显示下一个版本</translation>
    </message>
    <message>
        <source>Show the previous version</source>
        <translation>显示上一个版本</translation>
    </message>
    <message>
        <source>Version {number} of {count}</source>
        <translation>第 {number} 个版本，共 {count} 个</translation>
    </message>
</context>
<context>
    <name>StorageBanner</name>
    <message numerus="yes">
        <source>%n change(s) are waiting to be saved.</source>
        <translation><numerusform>有 %n 处更改等待保存。</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) are here.</source>
        <translation><numerusform>现有 %n 条消息。</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n saved message(s) could not be read; all others are here.</source>
        <translation><numerusform>有 %n 条已保存的消息无法读取，其余都在。</numerusform></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
</context>
<context>
    <name>ThinkingHead</name>
    <message>
        <source>Thinking…</source>
        <translation>思考中……</translation>
    </message>
    <message numerus="yes">
        <source>Thinking (%n character(s))</source>
        <translation><numerusform>思考过程（%n 个字符）</numerusform></translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>Unfold</source>
        <translation>展开</translation>
    </message>
</context>
<context>
    <name>TimelineView</name>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>负载</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>{seconds} s ago</source>
        <translation>{seconds} 秒前</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s) ago</source>
        <translation><numerusform>%n 分钟前</numerusform></translation>
    </message>
</context>
<context>
    <name>TranscriptView</name>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Go to the newest message</source>
        <translation>跳到最新消息</translation>
    </message>
</context>
<context>
    <name>TrashDialog</name>
    <message>
        <source>Deleted conversations</source>
        <translation>已删除的对话</translation>
    </message>
    <message>
        <source>Bring back</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Untitled</source>
        <translation>无标题</translation>
    </message>
    <message>
        <source>They are kept for 30 days after you deleted them.</source>
        <translation>删除后会保留 30 天。</translation>
    </message>
    <message>
        <source>Nothing was deleted in the last 30 days.</source>
        <translation>最近 30 天没有删除任何对话。</translation>
    </message>
    <message>
        <source>Remove for good</source>
        <translation>彻底删除</translation>
    </message>
    <message>
        <source>Really remove it for good</source>
        <translation>确定彻底删除</translation>
    </message>
    <message numerus="yes">
        <source>deleted {day} · %n message(s)</source>
        <translation><numerusform>{day} 删除 · %n 条消息</numerusform></translation>
    </message>
</context>
<context>
    <name>WorkerBanner</name>
    <message>
        <source>It starts again by itself.</source>
        <translation>它会自动重新启动。</translation>
    </message>
    <message>
        <source>It starts again in {seconds} s.</source>
        <translation>它将在 {seconds} 秒后重新启动。</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>重新启动</translation>
    </message>
    <message>
        <source>The default expert answers meanwhile.</source>
        <translation>其间由默认专家回答。</translation>
    </message>
    <message>
        <source>{who} is running again.</source>
        <translation>{who}已恢复运行。</translation>
    </message>
    <message>
        <source>{who} stopped too often and stays off: {how}.</source>
        <translation>{who}停止次数过多，不再自动启动：{how}。</translation>
    </message>
    <message>
        <source>{who} stopped: {how}.</source>
        <translation>{who}已停止：{how}。</translation>
    </message>
</context>
<context>
    <name>_HitModel</name>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>标题</translation>
    </message>
</context>
<context>
    <name>alerts</name>
    <message>
        <source>The machine is running out of RAM.</source>
        <translation>电脑内存即将用尽。</translation>
    </message>
    <message>
        <source>Programs wait for memory {value} % of the time.</source>
        <translation>程序有 {value} % 的时间在等待内存。</translation>
    </message>
    <message>
        <source>Everything stands still {value} % of the time, waiting for memory.</source>
        <translation>有 {value} % 的时间一切都停下来等待内存。</translation>
    </message>
    <message>
        <source>Memory is read back from swap at {rate}: RAM is too small for what runs.</source>
        <translation>正以 {rate} 从交换区读回内存：内存不够用。</translation>
    </message>
    <message>
        <source>{share} of the engine's own memory lies in swap.</source>
        <translation>引擎自身内存的 {share} 在交换区里。</translation>
    </message>
    <message>
        <source>Files are read again from the disk at {rate}: the expert's weights do not fit into RAM beside the rest.</source>
        <translation>正以 {rate} 从磁盘重读文件：内存放不下专家的权重和其他程序。</translation>
    </message>
    <message>
        <source>{share} of the expert's weights are not in RAM and are read from the disk for every token.</source>
        <translation>专家权重的 {share} 不在内存中，每个 token 都要从磁盘读取。</translation>
    </message>
    <message>
        <source>The GPU's memory is {share} full.</source>
        <translation>显存已用 {share}。</translation>
    </message>
    <message>
        <source>The GPU's memory is {share} full, all of it with other programs.</source>
        <translation>显存已用 {share}，全部被其他程序占用。</translation>
    </message>
    <message>
        <source>Close those that use the GPU before an expert is to be loaded onto it.</source>
        <translation>要把专家加载到 GPU，请先关闭占用 GPU 的程序。</translation>
    </message>
    <message>
        <source>The GPU's memory is full, and its driver moved {size} to RAM, where it is many times slower.</source>
        <translation>显存已满，驱动把 {size} 移到了内存，速度会慢很多倍。</translation>
    </message>
    <message>
        <source>The RAM that the GPU may use is {share} full.</source>
        <translation>GPU 可用的内存已用 {share}。</translation>
    </message>
    <message>
        <source>Windows has promised {share} of the memory it can give.</source>
        <translation>Windows 可提供的内存已承诺出 {share}。</translation>
    </message>
    <message>
        <source>Memory is read from the disk at {rate} while the expert writes.</source>
        <translation>专家生成时正以 {rate} 从磁盘读取内存。</translation>
    </message>
    <message>
        <source>macOS says that memory is short.</source>
        <translation>macOS 报告内存不足。</translation>
    </message>
    <message>
        <source>The GPU is slowed down by its heat or its power supply.</source>
        <translation>GPU 因过热或供电而降速。</translation>
    </message>
    <message>
        <source>Close other programs, or use a smaller expert or a shorter context.</source>
        <translation>请关闭其他程序，或使用更小的专家或更短的上下文。</translation>
    </message>
    <message>
        <source>Put fewer layers on the GPU, or shorten the context.</source>
        <translation>请减少放到 GPU 的层数，或缩短上下文。</translation>
    </message>
    <message>
        <source>Close other programs, or let Windows manage a larger page file.</source>
        <translation>请关闭其他程序，或让 Windows 使用更大的页面文件。</translation>
    </message>
    <message>
        <source>Clear its fans and vents; it goes on slower meanwhile.</source>
        <translation>请清理风扇和通风口；期间会以较慢速度继续。</translation>
    </message>
    <message>
        <source>New answers wait until there is memory again.</source>
        <translation>新的回答会等到有内存时再开始。</translation>
    </message>
    <message>
        <source>Memory ran out, so {names} was stopped and unloaded before the system ended programs.</source>
        <translation>内存用尽，已在系统结束程序之前停止并卸载 {names}。</translation>
    </message>
    <message>
        <source>What was written until then is kept.</source>
        <translation>已生成的内容已保留。</translation>
    </message>
</context>
<context>
    <name>diagnoses</name>
    <message>
        <source>{expert} could not be loaded; {available} of RAM are available now.</source>
        <translation>无法加载 {expert}；现在可用内存为 {available}。</translation>
    </message>
    <message>
        <source>Use a smaller quantization or a shorter context, or close other programs.</source>
        <translation>请使用更小的量化或更短的上下文，或关闭其他程序。</translation>
    </message>
    <message>
        <source>The first answer of this session failed ({code}).</source>
        <translation>本次会话的第一个回答失败（{code}）。</translation>
    </message>
    <message>
        <source>Try again; if it fails again, run: layadesk smoke</source>
        <translation>请重试；若再次失败，请运行：layadesk smoke</translation>
    </message>
    <message>
        <source>There is a GPU ({gpu}), but llama.cpp was built for the processor alone.</source>
        <translation>有 GPU（{gpu}），但 llama.cpp 只为处理器构建。</translation>
    </message>
    <message>
        <source>Run the set-up again with --rebuild and --backend cuda or vulkan.</source>
        <translation>请用 --rebuild 和 --backend cuda 或 vulkan 重新运行安装。</translation>
    </message>
    <message>
        <source>Only {on_gpu} of {layers} layers of {expert} are on the GPU.</source>
        <translation>{expert} 的 {layers} 层中只有 {on_gpu} 层在 GPU 上。</translation>
    </message>
    <message>
        <source>Allow more GPU layers, or use a smaller quantization that fits as a whole.</source>
        <translation>请允许更多 GPU 层，或使用能整个放下的更小量化。</translation>
    </message>
    <message>
        <source>The engine computes on {used}, although there is {better}.</source>
        <translation>引擎在 {used} 上计算，尽管有 {better}。</translation>
    </message>
    <message>
        <source>Choose the GPU with memory of its own in the settings of the engine.</source>
        <translation>请在引擎设置中选择有独立显存的 GPU。</translation>
    </message>
    <message>
        <source>The GPU's memory was full, and its driver moved a part to RAM.</source>
        <translation>显存已满，驱动把一部分移到了内存。</translation>
    </message>
    <message>
        <source>Put fewer layers on the GPU, or shorten the context.</source>
        <translation>请减少放到 GPU 的层数，或缩短上下文。</translation>
    </message>
    <message>
        <source>Choosing an expert took up to {took}, while all cores were busy.</source>
        <translation>选择专家最多用了 {took}，当时所有核心都很忙。</translation>
    </message>
    <message>
        <source>Give the engine one thread less than there are cores.</source>
        <translation>请让引擎使用比核心数少一个的线程。</translation>
    </message>
    <message>
        <source>Choosing an expert took up to {took}, while another one was loading.</source>
        <translation>选择专家最多用了 {took}，当时另一个专家正在加载。</translation>
    </message>
    <message>
        <source>Nothing has to be done; keep both experts in memory if it happens often.</source>
        <translation>无需处理；若经常发生，请把两个专家都留在内存中。</translation>
    </message>
    <message>
        <source>{expert} writes {tps} tokens/s, {share} of the {ceiling} that memory allows.</source>
        <translation>{expert} 每秒生成 {tps} 个 token，是内存允许的 {ceiling} 的 {share}。</translation>
    </message>
    <message>
        <source>See whether other programs compute, memory is short, or the machine saves power.</source>
        <translation>请看是否有其他程序在计算、内存不足或电脑处于省电模式。</translation>
    </message>
    <message>
        <source>Most of the waiting is for reading the prompt: {took} for {n_prompt} tokens.</source>
        <translation>大部分等待用于读取提示：{n_prompt} 个 token 用了 {took}。</translation>
    </message>
    <message>
        <source>Shorten what is sent, or put layers on a GPU: prompts gain most from it.</source>
        <translation>请缩短发送的内容，或把层放到 GPU：提示从中获益最多。</translation>
    </message>
    <message>
        <source>An answer of {expert} said one thing again and again.</source>
        <translation>{expert} 的一个回答反复说同样的话。</translation>
    </message>
    <message>
        <source>Set the temperature to 0.6 and the repeat penalty to 1.1, or use a larger expert.</source>
        <translation>请把温度设为 0.6、重复惩罚设为 1.1，或使用更大的专家。</translation>
    </message>
    <message>
        <source>{expert} answered {n} of the last {total} questions; the others are hardly used.</source>
        <translation>最近 {total} 个问题中有 {n} 个由 {expert} 回答；其他专家几乎没用到。</translation>
    </message>
    <message>
        <source>See whether it is pinned, and whether the others' strengths are set.</source>
        <translation>请看它是否被固定，以及其他专家的特长是否已设置。</translation>
    </message>
    <message>
        <source>The GPU waits while one core of the processor is full.</source>
        <translation>GPU 在等待，而处理器的一个核心已满载。</translation>
    </message>
    <message>
        <source>Put all layers on the GPU; what is left on the processor slows down the rest.</source>
        <translation>请把所有层放到 GPU；留在处理器上的部分会拖慢其余部分。</translation>
    </message>
    <message>
        <source>The graphics driver was updated while the machine was running.</source>
        <translation>电脑运行期间显卡驱动被更新了。</translation>
    </message>
    <message>
        <source>Restart the machine.</source>
        <translation>请重启电脑。</translation>
    </message>
    <message>
        <source>{gpu} does not answer any more: it fell off the bus or was unplugged.</source>
        <translation>{gpu} 不再响应：它已脱离总线或被拔出。</translation>
    </message>
    <message>
        <source>Restart the machine; if it happens again, look at heat and power supply.</source>
        <translation>请重启电脑；若再次发生，请检查散热和供电。</translation>
    </message>
    <message>
        <source>Memory was so short that it was read from the disk again and again ({signs}).</source>
        <translation>内存严重不足，以致反复从磁盘读取（{signs}）。</translation>
    </message>
    <message>
        <source>Use a smaller expert or a shorter context, or close other programs.</source>
        <translation>请使用更小的专家或更短的上下文，或关闭其他程序。</translation>
    </message>
    <message>
        <source>The largest expert takes {largest} of {ram} of RAM, and there is little swap ({swap}).</source>
        <translation>最大的专家要占 {ram} 内存中的 {largest}，而交换区很小（{swap}）。</translation>
    </message>
    <message>
        <source>Add swap so that the system need not end programs. Linux: sudo fallocate -l 8G /swapfile, sudo chmod 600 /swapfile, sudo mkswap /swapfile, sudo swapon /swapfile. Windows: let it manage the page file.</source>
        <translation>请添加交换区，以免系统结束程序。Linux：sudo fallocate -l 8G /swapfile，sudo chmod 600 /swapfile，sudo mkswap /swapfile，sudo swapon /swapfile。Windows：让系统管理页面文件。</translation>
    </message>
</context>
<context>
    <name>errors</name>
    <message>
        <source>LayaDesk did not get through its last {n} starts, so this time it leaves graphics cards alone.</source>
        <translation>LayaDesk 最近 {n} 次启动都未能完成，因此这次不使用显卡。</translation>
    </message>
    <message>
        <source>Start it again to use them. If it ends at once again, a newer graphics driver may help.</source>
        <translation>再次启动即可恢复使用显卡。如果它又立即退出，更新显卡驱动可能有帮助。</translation>
    </message>
    <message>
        <source>{name} has a licence with conditions: {licence}.</source>
        <translation>{name} 的许可证附有条件：{licence}。</translation>
    </message>
    <message>
        <source>Read it at {page}. If you agree, say so in the window, or add --accept-licence.</source>
        <translation>请在 {page} 阅读。如果同意，请在窗口中确认，或在命令中加上 --accept-licence。</translation>
    </message>
    <message>
        <source>This file of {subject} is not on a hub; it comes with the set-up of LayaDesk.</source>
        <translation>{subject} 的这个文件不在模型站点上；它随 LayaDesk 的安装程序提供。</translation>
    </message>
    <message>
        <source>Run the set-up again, or download another quantization.</source>
        <translation>请重新运行安装程序，或下载其他量化版本。</translation>
    </message>
    <message>
        <source>{host} cannot be reached, or the connection broke off.</source>
        <translation>无法连接 {host}，或者连接中断了。</translation>
    </message>
    <message>
        <source>Check the connection and the proxy, or choose a mirror in the settings. What is here is kept.</source>
        <translation>请检查网络和代理，或在设置中选择镜像。已下载的部分会保留。</translation>
    </message>
    <message>
        <source>{host} says that there were too many requests.</source>
        <translation>{host} 表示请求过多。</translation>
    </message>
    <message>
        <source>Wait some minutes and resume. What is here is kept.</source>
        <translation>请等几分钟再继续。已下载的部分会保留。</translation>
    </message>
    <message>
        <source>{host} wants an access token for {repo}, and there is none that it takes.</source>
        <translation>{host} 要求提供 {repo} 的访问令牌，但没有它认可的令牌。</translation>
    </message>
    <message>
        <source>Check at {page} that it is there, and set HF_TOKEN or run: hf auth login</source>
        <translation>请在 {page} 确认它存在，并设置 HF_TOKEN 或运行：hf auth login</translation>
    </message>
    <message>
        <source>The makers of {repo} give it only to those who accept their conditions.</source>
        <translation>{repo} 的作者只提供给接受其条件的人。</translation>
    </message>
    <message>
        <source>Accept them at {page} with your account, then resume with its access token.</source>
        <translation>请用你的账号在 {page} 接受条件，然后用该账号的访问令牌继续。</translation>
    </message>
    <message>
        <source>{host} does not have {file} of {repo} any more.</source>
        <translation>{host} 上已经没有 {repo} 的 {file} 了。</translation>
    </message>
    <message>
        <source>Choose another quantization, or update LayaDesk for a newer catalogue.</source>
        <translation>请选择其他量化版本，或更新 LayaDesk 以获得新的目录。</translation>
    </message>
    <message>
        <source>{host} has another {file} than the catalogue names, so it was not downloaded.</source>
        <translation>{host} 上的 {file} 与目录中登记的不同，因此没有下载。</translation>
    </message>
    <message>
        <source>Choose another quantization or mirror, or update LayaDesk.</source>
        <translation>请选择其他量化版本或镜像，或更新 LayaDesk。</translation>
    </message>
    <message>
        <source>Nobody but {host} says what {file} must be, so it cannot be checked.</source>
        <translation>除 {host} 之外没有人说明 {file} 应有的内容，因此无法校验。</translation>
    </message>
    <message>
        <source>Choose a quantization whose checksum the catalogue has, or huggingface.co.</source>
        <translation>请选择目录中有校验和的量化版本，或改用 huggingface.co。</translation>
    </message>
    <message>
        <source>{file} from {host} arrived damaged: its checksum is wrong. It was deleted.</source>
        <translation>来自 {host} 的 {file} 已损坏：校验和不符，文件已删除。</translation>
    </message>
    <message>
        <source>Download it again; if that happens again, choose another mirror.</source>
        <translation>请重新下载；如果再次发生，请选择其他镜像。</translation>
    </message>
    <message>
        <source>Another LayaDesk is downloading {subject} at this moment.</source>
        <translation>另一个 LayaDesk 正在下载 {subject}。</translation>
    </message>
    <message>
        <source>Wait for it, or pause it there.</source>
        <translation>请等待它完成，或在那里暂停。</translation>
    </message>
    <message>
        <source>The disk is too full for this download: it needs {needs_gib}, and {free_gib} are free.</source>
        <translation>磁盘空间不足以完成此下载：需要 {needs_gib}，剩余 {free_gib}。</translation>
    </message>
    <message>
        <source>Free some space, or move the models to another disk, and resume; nothing is lost.</source>
        <translation>请释放一些空间，或把模型移到其他磁盘，然后继续。不会丢失任何内容。</translation>
    </message>
    <message>
        <source>The file {path} could not be read as settings.</source>
        <translation>无法将文件 {path} 作为设置读取。</translation>
    </message>
    <message>
        <source>Choose a YAML file with the parts router, expert_pool or inference.</source>
        <translation>请选择包含 router、expert_pool 或 inference 部分的 YAML 文件。</translation>
    </message>
    <message>
        <source>Choose another folder, or make room on the disk.</source>
        <translation>请选择其他文件夹，或腾出磁盘空间。</translation>
    </message>
    <message>
        <source>The file {path} could not be written.</source>
        <translation>无法写入文件 {path}。</translation>
    </message>
    <message>
        <source>Attach text, code or a PDF with text in it, up to 50 MiB and without a password.</source>
        <translation>请附加文本、代码或含文字且无密码的 PDF，不超过 50 MiB。</translation>
    </message>
    <message>
        <source>The file {path} could not be attached as text.</source>
        <translation>无法将文件 {path} 作为文本附加。</translation>
    </message>
    <message>
        <source>Choose a JSON export of LayaDesk, ChatGPT or Open WebUI.</source>
        <translation>请选择 LayaDesk、ChatGPT 或 Open WebUI 导出的 JSON 文件。</translation>
    </message>
    <message>
        <source>No conversations could be read from the file {path}.</source>
        <translation>无法从文件 {path} 中读取对话。</translation>
    </message>
    <message>
        <source>{subject} does not fit into memory: it needs {needs_gib} on {device}, {free_gib} are free and {reserve_gib} have to stay free. Most of it is for {item}, {item_gib}.</source>
        <translation>{subject} 放不进内存：{device} 需要 {needs_gib}，空闲 {free_gib}，须保留 {reserve_gib}。其中最多的是{item}，{item_gib}。</translation>
    </message>
    <message>
        <source>Choose a smaller context, another expert, or a way out that is offered (layadesk fit lists all).</source>
        <translation>请选择更小的上下文、其他专家，或这里给出的办法（layadesk fit 会列出它们）。</translation>
    </message>
    <message>
        <source>Nobody can tell whether {subject} fits into memory.</source>
        <translation>无法判断 {subject} 是否放得进内存。</translation>
    </message>
    <message>
        <source>Load it anyway, or choose another expert.</source>
        <translation>仍然加载，或选择其他专家。</translation>
    </message>
    <message>
        <source>Add a model file (GGUF).</source>
        <translation>请添加一个模型文件（GGUF）。</translation>
    </message>
    <message>
        <source>Add your model files again; the files themselves are untouched.</source>
        <translation>请重新添加你的模型文件；文件本身没有改动。</translation>
    </message>
    <message>
        <source>Allow writing to it, or start with --data-dir and another folder.</source>
        <translation>请允许写入，或用 --data-dir 指定其他文件夹启动。</translation>
    </message>
    <message>
        <source>An answer is still being written in this conversation.</source>
        <translation>本对话中还有回答正在生成。</translation>
    </message>
    <message>
        <source>Another program has locked the file with your conversations.</source>
        <translation>保存对话的文件被其他程序锁定了。</translation>
    </message>
    <message>
        <source>Check that the disk is connected and that you may read the file.</source>
        <translation>请检查磁盘是否已连接，以及你是否有权读取该文件。</translation>
    </message>
    <message>
        <source>Check that there is enough memory, and that the file is complete.</source>
        <translation>请检查内存是否足够，以及文件是否完整。</translation>
    </message>
    <message>
        <source>Check the disk and its cable, or start with --data-dir and another folder.</source>
        <translation>请检查磁盘及其连线，或用 --data-dir 指定其他文件夹启动。</translation>
    </message>
    <message>
        <source>Choose a file that ends in .gguf; other formats have to be converted first.</source>
        <translation>请选择以 .gguf 结尾的文件；其他格式需要先转换。</translation>
    </message>
    <message>
        <source>Choose a smaller expert or a shorter context, or close other programs.</source>
        <translation>请选择较小的专家或较短的上下文，或关闭其他程序。</translation>
    </message>
    <message>
        <source>Choose a value within its limits.</source>
        <translation>请选择允许范围内的值。</translation>
    </message>
    <message>
        <source>Choose a value within its limits; the default is used meanwhile.</source>
        <translation>请选择允许范围内的值；其间使用默认值。</translation>
    </message>
    <message>
        <source>Choose another conversation, or start a new one.</source>
        <translation>请选择其他对话，或开始新对话。</translation>
    </message>
    <message>
        <source>Choose another expert or a shorter context, then start the engine again.</source>
        <translation>请选择其他专家或更短的上下文，然后重新启动引擎。</translation>
    </message>
    <message>
        <source>Choose another expert, or Auto.</source>
        <translation>请选择其他专家，或选择“自动”。</translation>
    </message>
    <message>
        <source>Choose it from the list of experts.</source>
        <translation>请在专家列表中选择它。</translation>
    </message>
    <message>
        <source>Choose the main file of a chat model, often marked “instruct” or “chat”.</source>
        <translation>请选择对话模型的主文件，名称中通常带有“instruct”或“chat”。</translation>
    </message>
    <message>
        <source>Close other windows of LayaDesk and backup programs, then try again.</source>
        <translation>请关闭其他 LayaDesk 窗口和备份程序，然后重试。</translation>
    </message>
    <message>
        <source>Copy or download it again to the end.</source>
        <translation>请重新完整地复制或下载。</translation>
    </message>
    <message>
        <source>Copy or download it again.</source>
        <translation>请重新复制或下载。</translation>
    </message>
    <message>
        <source>Free some space; what was not saved is saved then.</source>
        <translation>请腾出一些空间，未保存的内容随后会自动保存。</translation>
    </message>
    <message>
        <source>Get a complete copy of the model.</source>
        <translation>请获取该模型的完整文件。</translation>
    </message>
    <message>
        <source>Get a newer copy of the model (GGUF version 2 or 3).</source>
        <translation>请获取该模型的较新文件（GGUF 第 2 或第 3 版）。</translation>
    </message>
    <message>
        <source>Get a newer copy of the model, or choose another expert.</source>
        <translation>请获取该模型的较新文件，或选择其他专家。</translation>
    </message>
    <message>
        <source>Install LayaDesk again, or restore models.json; your own models are safe.</source>
        <translation>请重新安装 LayaDesk，或恢复 models.json；你自己的模型不受影响。</translation>
    </message>
    <message>
        <source>Install LayaDesk again, so that all its parts are of one version.</source>
        <translation>请重新安装 LayaDesk，使各部分版本一致。</translation>
    </message>
    <message>
        <source>Install it with: sudo apt-get install -y {packages}</source>
        <translation>请运行以下命令安装：sudo apt-get install -y {packages}</translation>
    </message>
    <message>
        <source>It was kept beside the new one; default settings are used.</source>
        <translation>原文件已另存在旁边；现使用默认设置。</translation>
    </message>
    <message>
        <source>It was moved aside; the newest good backup is used where there is one.</source>
        <translation>该文件已移到一旁；如有完好的备份，会使用其中最新的一份。</translation>
    </message>
    <message>
        <source>Load it with a shorter context or fewer GPU layers, or choose another expert.</source>
        <translation>请用更短的上下文或更少的 GPU 层数加载，或选择其他专家。</translation>
    </message>
    <message>
        <source>Nothing was changed. Go on with the version you had before, and report this.</source>
        <translation>没有任何改动。请继续使用之前的版本，并报告此问题。</translation>
    </message>
    <message>
        <source>Put all parts into one folder and choose the first one.</source>
        <translation>请把所有分卷放在同一个文件夹，然后选择第一个。</translation>
    </message>
    <message>
        <source>Put the file back, or add it from where it is now.</source>
        <translation>请把文件放回去，或从它现在的位置添加。</translation>
    </message>
    <message>
        <source>Run the set-up again; it builds llama.cpp anew for this machine.</source>
        <translation>请重新运行安装程序，它会为这台电脑重新构建 llama.cpp。</translation>
    </message>
    <message>
        <source>Shorten it, or load the expert with a longer context.</source>
        <translation>请缩短消息，或用更长的上下文加载专家。</translation>
    </message>
    <message>
        <source>Simplify the JSON schema or the grammar, or leave it out.</source>
        <translation>请简化 JSON schema 或语法，或者不使用它。</translation>
    </message>
    <message>
        <source>Something went wrong inside LayaDesk.</source>
        <translation>LayaDesk 内部出现错误。</translation>
    </message>
    <message>
        <source>Start it in a desktop session, or use `layadesk ask` in the terminal.</source>
        <translation>请在桌面会话中启动，或在终端使用 `layadesk ask`。</translation>
    </message>
    <message>
        <source>The answer cannot be bound to this {kind}: {detail}.</source>
        <translation>无法让回答遵守这个 {kind}：{detail}。</translation>
    </message>
    <message>
        <source>The architecture “{architecture}” of {subject} is not known to this version.</source>
        <translation>当前版本不认识 {subject} 的架构“{architecture}”。</translation>
    </message>
    <message>
        <source>The catalogue of models cannot be read.</source>
        <translation>无法读取模型目录。</translation>
    </message>
    <message>
        <source>The chat template of {subject} cannot be used.</source>
        <translation>{subject} 的对话模板无法使用。</translation>
    </message>
    <message>
        <source>The data folder cannot be written to ({subject}).</source>
        <translation>无法写入数据文件夹（{subject}）。</translation>
    </message>
    <message>
        <source>The default expert answers meanwhile; you can also choose one yourself.</source>
        <translation>其间由默认专家回答；你也可以自己选择专家。</translation>
    </message>
    <message>
        <source>The disk with the data folder is full.</source>
        <translation>数据文件夹所在的磁盘已满。</translation>
    </message>
    <message>
        <source>The disk with the data folder reports errors.</source>
        <translation>数据文件夹所在的磁盘出现错误。</translation>
    </message>
    <message>
        <source>The engine could not go on with this answer.</source>
        <translation>引擎无法继续生成这条回答。</translation>
    </message>
    <message>
        <source>The engine did not answer any more and was ended.</source>
        <translation>引擎不再响应，已被结束。</translation>
    </message>
    <message>
        <source>The engine died while it was loading {subject}, so it is not loaded by itself.</source>
        <translation>引擎在加载 {subject} 时崩溃，因此不会自动加载它。</translation>
    </message>
    <message>
        <source>The engine stopped in mid-answer: {how}.</source>
        <translation>引擎在回答途中停止：{how}。</translation>
    </message>
    <message>
        <source>The engine stopped too often and is not started again by itself: {how}.</source>
        <translation>引擎停止次数过多，不再自动启动：{how}。</translation>
    </message>
    <message>
        <source>The expert {subject} could not be loaded.</source>
        <translation>专家 {subject} 无法加载。</translation>
    </message>
    <message>
        <source>The expert {subject} is not installed.</source>
        <translation>专家 {subject} 尚未安装。</translation>
    </message>
    <message>
        <source>The expert {subject} is answering or being loaded, so it stays in memory.</source>
        <translation>专家 {subject} 正在回答或正在加载，因此仍保留在内存中。</translation>
    </message>
    <message>
        <source>Wait for the end of its answers, or stop them first.</source>
        <translation>请等待它回答完毕，或先停止回答。</translation>
    </message>
    <message>
        <source>The file with your conversations is damaged.</source>
        <translation>保存对话的文件已损坏。</translation>
    </message>
    <message>
        <source>The beginning of {subject} could not be read from its server.</source>
        <translation>无法从服务器读取 {subject} 的开头部分。</translation>
    </message>
    <message>
        <source>Check the address and the connection; the server must hand out parts of files.</source>
        <translation>请检查地址和网络连接；服务器必须支持按范围下载文件。</translation>
    </message>
    <message>
        <source>The file {subject} cannot be read.</source>
        <translation>无法读取文件 {subject}。</translation>
    </message>
    <message>
        <source>The file {subject} cannot chat: it is {kind}.</source>
        <translation>文件 {subject} 不能用于对话：它是{kind}。</translation>
    </message>
    <message>
        <source>The file {subject} has no vocabulary, so text cannot be turned into tokens.</source>
        <translation>文件 {subject} 没有词表，无法把文字转换成 token。</translation>
    </message>
    <message>
        <source>The file {subject} is cut off: it has {size} bytes and needs at least {needed}.</source>
        <translation>文件 {subject} 不完整：只有 {size} 字节，至少需要 {needed} 字节。</translation>
    </message>
    <message>
        <source>The file {subject} is damaged: its header makes no sense.</source>
        <translation>文件 {subject} 已损坏：文件头无法解读。</translation>
    </message>
    <message>
        <source>The file {subject} is empty: a copy or download did not run to its end.</source>
        <translation>文件 {subject} 是空的：复制或下载没有完成。</translation>
    </message>
    <message>
        <source>The file {subject} is not a GGUF model; it looks like {format}.</source>
        <translation>文件 {subject} 不是 GGUF 模型；它看起来是{format}。</translation>
    </message>
    <message>
        <source>The file {subject} is written in GGUF version {version}, which is not supported.</source>
        <translation>文件 {subject} 使用 GGUF 第 {version} 版，尚不支持。</translation>
    </message>
    <message>
        <source>This processor lacks {detail}, which the installed build of llama.cpp uses.</source>
        <translation>这个处理器缺少 {detail}，而安装的 llama.cpp 构建要用到它。</translation>
    </message>
    <message>
        <source>Build llama.cpp on this machine: the README says how.</source>
        <translation>请在这台电脑上构建 llama.cpp：方法见 README。</translation>
    </message>
    <message>
        <source>The installed build of llama.cpp does not run on this machine.</source>
        <translation>已安装的 llama.cpp 构建无法在这台电脑上运行。</translation>
    </message>
    <message>
        <source>The list of installed models cannot be read.</source>
        <translation>无法读取已安装模型的列表。</translation>
    </message>
    <message>
        <source>The message is too long: {n_prompt} tokens, and the context holds {n_ctx}.</source>
        <translation>消息太长：共 {n_prompt} 个 token，而上下文只能容纳 {n_ctx} 个。</translation>
    </message>
    <message>
        <source>The model file {file} is not there.</source>
        <translation>模型文件 {file} 不在那里。</translation>
    </message>
    <message>
        <source>The model {subject} is already among your experts.</source>
        <translation>模型 {subject} 已在你的专家之中。</translation>
    </message>
    <message>
        <source>The model {subject} is split into {parts} parts, and {missing} is missing.</source>
        <translation>模型 {subject} 分为 {parts} 卷，缺少 {missing}。</translation>
    </message>
    <message>
        <source>The program and its engine do not speak the same version.</source>
        <translation>程序与引擎的版本不一致。</translation>
    </message>
    <message>
        <source>The router is not there, so nobody can choose between the experts.</source>
        <translation>路由模型不在运行，无法在专家之间选择。</translation>
    </message>
    <message>
        <source>The settings file cannot be read.</source>
        <translation>无法读取设置文件。</translation>
    </message>
    <message>
        <source>The text so far is kept. The engine starts again by itself; then try again.</source>
        <translation>已生成的文字已保留。引擎会自动重新启动，之后请重试。</translation>
    </message>
    <message>
        <source>The text so far is kept. Try again when the engine is back.</source>
        <translation>已生成的文字已保留。请在引擎恢复后重试。</translation>
    </message>
    <message>
        <source>The value {value} is not possible for the setting {key}.</source>
        <translation>设置项 {key} 不能取值 {value}。</translation>
    </message>
    <message>
        <source>The value {value} of {parameter} is not possible.</source>
        <translation>{parameter} 不能取值 {value}。</translation>
    </message>
    <message>
        <source>The window cannot be opened: the system library {library} is missing.</source>
        <translation>无法打开窗口：系统缺少库 {library}。</translation>
    </message>
    <message>
        <source>There is no expert yet that could answer.</source>
        <translation>还没有可以回答的专家。</translation>
    </message>
    <message>
        <source>There is no screen to open the window on.</source>
        <translation>没有可以显示窗口的屏幕。</translation>
    </message>
    <message>
        <source>There is nothing to answer: the message is empty.</source>
        <translation>没有可回答的内容：消息是空的。</translation>
    </message>
    <message>
        <source>There was not enough memory.</source>
        <translation>内存不足。</translation>
    </message>
    <message>
        <source>This conversation or message is not there any more.</source>
        <translation>这个对话或消息已不存在。</translation>
    </message>
    <message>
        <source>This request is being answered already.</source>
        <translation>这个请求正在回答中。</translation>
    </message>
    <message>
        <source>Too many requests are waiting for this expert.</source>
        <translation>等待这个专家的请求太多了。</translation>
    </message>
    <message>
        <source>Try again when some of them are done.</source>
        <translation>请等其中一些完成后再试。</translation>
    </message>
    <message>
        <source>Try again; when it happens again, choose a shorter context.</source>
        <translation>请重试；如果再次发生，请选择更短的上下文。</translation>
    </message>
    <message>
        <source>Update LayaDesk, or choose a model with a known architecture.</source>
        <translation>请更新 LayaDesk，或选择架构受支持的模型。</translation>
    </message>
    <message>
        <source>Update LayaDesk, or start with --data-dir and another folder.</source>
        <translation>请更新 LayaDesk，或用 --data-dir 指定其他文件夹启动。</translation>
    </message>
    <message>
        <source>Wait for its answer.</source>
        <translation>请等待回答完成。</translation>
    </message>
    <message>
        <source>Wait until it is complete, or stop it first.</source>
        <translation>请等它完成，或先停止它。</translation>
    </message>
    <message>
        <source>Write something first.</source>
        <translation>请先写点什么。</translation>
    </message>
    <message>
        <source>Your conversations are safe. Please report it with the file app.log.</source>
        <translation>你的对话是安全的。请附上 app.log 文件报告此问题。</translation>
    </message>
    <message>
        <source>Your conversations could not be brought to the format of this version.</source>
        <translation>你的对话无法转换为当前版本的格式。</translation>
    </message>
    <message>
        <source>Your conversations were saved by a newer version of LayaDesk.</source>
        <translation>你的对话是由更新版本的 LayaDesk 保存的。</translation>
    </message>
    <message>
        <source>The router's file {path} is not there.</source>
        <translation>路由器文件 {path} 不存在。</translation>
    </message>
    <message>
        <source>Install LayaDesk again, or choose another router in the settings.</source>
        <translation>请重新安装 LayaDesk，或在设置中选择另一个路由器。</translation>
    </message>
    <message>
        <source>The router's file {path} cannot be used ({detail}).</source>
        <translation>路由器文件 {path} 无法使用（{detail}）。</translation>
    </message>
    <message>
        <source>Get a newer copy of it, or choose another router in the settings.</source>
        <translation>请获取较新的文件，或在设置中选择另一个路由器。</translation>
    </message>
    <message>
        <source>There is no router {router}; there are bundled, none, and Laya checkpoints as laya:DIRECTORY.</source>
        <translation>没有名为 {router} 的路由器；可用的有 bundled、none，以及写作 laya:目录 的 Laya 检查点。</translation>
    </message>
    <message>
        <source>Choose one of these.</source>
        <translation>请从中选择一个。</translation>
    </message>
    <message>
        <source>The table of what the experts are good at, {path}, has an entry that cannot be used: {entry} ({detail}).</source>
        <translation>专家特长表 {path} 中有一项无法使用：{entry}（{detail}）。</translation>
    </message>
    <message>
        <source>The entry is left out until it is mended; the others count.</source>
        <translation>该项在修正前不计入，其余照常使用。</translation>
    </message>
    <message>
        <source>There are too few corrections to learn from: {n}, and it takes {needed}.</source>
        <translation>可供学习的更正太少：{n} 条，需要 {needed} 条。</translation>
    </message>
    <message>
        <source>Go on correcting routes that were wrong, and calibrate later.</source>
        <translation>请继续更正错误的路由，稍后再校准。</translation>
    </message>
    <message>
        <source>The router has not been calibrated here, so there is nothing to take back.</source>
        <translation>路由器在这里还没有校准过，没有可撤销的内容。</translation>
    </message>
    <message>
        <source>Nothing has to be done.</source>
        <translation>无需处理。</translation>
    </message>
    <message>
        <source>needed {needs_gib}, RAM free {free_gib}</source>
        <translation>需要 {needs_gib}，空闲内存 {free_gib}</translation>
    </message>
    <message>
        <source>This answer cannot be gone on with.</source>
        <translation>无法接着写这条回答。</translation>
    </message>
    <message>
        <source>Only the last answer can, where it was stopped or cut off. Answer again instead.</source>
        <translation>只有最后一条、且被停止或截断的回答可以接着写。可以改为重新回答。</translation>
    </message>
    <message>
        <source>This is not an address of a server: {url}.</source>
        <translation>这不是服务器地址：{url}。</translation>
    </message>
    <message>
        <source>Enter one such as https://api.example.com/v1 or http://localhost:8080/v1.</source>
        <translation>请输入类似 https://api.example.com/v1 或 http://localhost:8080/v1 的地址。</translation>
    </message>
    <message>
        <source>Only remote experts could answer, and Auto may not send anything away.</source>
        <translation>只有远程专家可以回答，而“自动”不允许把内容发送出去。</translation>
    </message>
    <message>
        <source>Choose the remote expert by name, or allow Auto to use it in the settings.</source>
        <translation>请直接选择该远程专家，或在设置中允许“自动”使用它。</translation>
    </message>
    <message>
        <source>The server {host} of {subject} cannot be reached.</source>
        <translation>无法连接 {subject} 的服务器 {host}。</translation>
    </message>
    <message>
        <source>Check that it runs, the address and the network; or choose another expert.</source>
        <translation>请检查服务器是否在运行、地址和网络是否正确，或选择其他专家。</translation>
    </message>
    <message>
        <source>The server {host} of {subject} said nothing for {seconds} seconds.</source>
        <translation>{subject} 的服务器 {host} 在 {seconds} 秒内没有任何回应。</translation>
    </message>
    <message>
        <source>Try again later, or choose another expert.</source>
        <translation>请稍后再试，或选择其他专家。</translation>
    </message>
    <message>
        <source>The server {host} does not accept the key of {subject} (HTTP {status}).</source>
        <translation>服务器 {host} 不接受 {subject} 的密钥（HTTP {status}）。</translation>
    </message>
    <message>
        <source>Enter a valid API key for this expert in the settings.</source>
        <translation>请在设置中为该专家输入有效的 API 密钥。</translation>
    </message>
    <message>
        <source>The server {host} does not know the model {model} (HTTP 404).</source>
        <translation>服务器 {host} 上没有模型 {model}（HTTP 404）。</translation>
    </message>
    <message>
        <source>Test the connection in the settings: it lists the models that are there.</source>
        <translation>请在设置中测试连接，会列出那里的模型。</translation>
    </message>
    <message>
        <source>The server {host} takes no more requests now (HTTP 429).</source>
        <translation>服务器 {host} 现在不再接受请求（HTTP 429）。</translation>
    </message>
    <message>
        <source>Wait a while, look at your account's limits, or choose another expert.</source>
        <translation>请稍等，查看您账户的限额，或选择其他专家。</translation>
    </message>
    <message>
        <source>The server {host} refused the request of {subject} (HTTP {status}).</source>
        <translation>服务器 {host} 拒绝了 {subject} 的请求（HTTP {status}）。</translation>
    </message>
    <message>
        <source>The details say why; another expert may take it as it is.</source>
        <translation>原因见详细信息；其他专家也许可以接受。</translation>
    </message>
    <message>
        <source>The server {host} of {subject} failed (HTTP {status}).</source>
        <translation>{subject} 的服务器 {host} 出错（HTTP {status}）。</translation>
    </message>
    <message>
        <source>What the server {host} sent is no answer of an OpenAI-compatible server.</source>
        <translation>服务器 {host} 返回的内容不是 OpenAI 兼容服务器的回答。</translation>
    </message>
    <message>
        <source>Check the address; it mostly ends in /v1.</source>
        <translation>请检查地址，它通常以 /v1 结尾。</translation>
    </message>
    <message>
        <source>The connection to {host} ended in mid-answer.</source>
        <translation>与 {host} 的连接在回答中途断开。</translation>
    </message>
    <message>
        <source>The text so far is kept. Try again, or choose another expert.</source>
        <translation>已写的内容会保留。请重试，或选择其他专家。</translation>
    </message>
    <message>
        <source>The server {host} sends its visitors elsewhere, to {target}; nobody followed.</source>
        <translation>服务器 {host} 要求转到 {target}；程序没有跟随。</translation>
    </message>
    <message>
        <source>If you trust that address, enter it for this expert in the settings.</source>
        <translation>如果您信任该地址，请在设置中为该专家填写它。</translation>
    </message>
    <message>
        <source>The list of remote experts, {path}, has an entry that cannot be used ({detail}).</source>
        <translation>远程专家列表 {path} 中有一项无法使用（{detail}）。</translation>
    </message>
    <message>
        <source>It is left out until it is mended; the others are there.</source>
        <translation>在修正之前会忽略该项；其他项不受影响。</translation>
    </message>
    <message>
        <source>The API key could not be kept, neither in the keyring nor in a file of its own.</source>
        <translation>API 密钥无法保存：密钥环和单独的文件都不行。</translation>
    </message>
    <message>
        <source>Unlock the keyring, or allow writing to the data folder, and enter it again.</source>
        <translation>请解锁密钥环，或允许写入数据文件夹，然后重新输入。</translation>
    </message>
    <message>
        <source>The port {port} is in use by {holder}, so the server was not started.</source>
        <translation>端口 {port} 正被 {holder} 使用，所以服务器没有启动。</translation>
    </message>
    <message>
        <source>Choose another port, for instance {free_port}, or end that program.</source>
        <translation>请换一个端口，例如 {free_port}，或者结束那个程序。</translation>
    </message>
    <message>
        <source>The server cannot listen at the address {host}.</source>
        <translation>服务器无法在地址 {host} 上监听。</translation>
    </message>
    <message>
        <source>Choose an address of this machine, for instance 127.0.0.1.</source>
        <translation>请选择本机的一个地址，例如 127.0.0.1。</translation>
    </message>
    <message>
        <source>At the address {host} other machines could ask, so an API key is needed first.</source>
        <translation>在地址 {host} 上，其他机器也能发来请求，所以要先有一个 API 密钥。</translation>
    </message>
    <message>
        <source>Make a key (layadesk serve --api-key), or choose 127.0.0.1.</source>
        <translation>请生成一个密钥（layadesk serve --api-key），或者选择 127.0.0.1。</translation>
    </message>
    <message>
        <source>another program</source>
        <translation>另一个程序</translation>
    </message>
    <message>
        <source>LayaDesk is open already with the data folder {path}, and does not answer.</source>
        <translation>LayaDesk 已经用数据文件夹 {path} 打开，但没有响应。</translation>
    </message>
    <message>
        <source>Wait until it answers again, or end it; another --data-dir opens a second one.</source>
        <translation>请等它恢复响应，或结束它；用另一个 --data-dir 可以再开一个。</translation>
    </message>
    <message>
        <source>Choose one of: {known}.</source>
        <translation>请从以下选项中选择：{known}。</translation>
    </message>
    <message>
        <source>the file as a whole</source>
        <translation>整个文件</translation>
    </message>
    <message>
        <source>entry {number}</source>
        <translation>第 {number} 条</translation>
    </message>
    <message>
        <source>In your own catalogue, {subject}, {place} cannot be used: {detail}.</source>
        <translation>您自己的模型目录 {subject} 中，{place}无法使用：{detail}。</translation>
    </message>
    <message>
        <source>Correct it there or take it out; everything else stays usable.</source>
        <translation>请在该文件中改正或删除它；其余内容仍可使用。</translation>
    </message>
    <message>
        <source>There is no GGUF file in {subject}.</source>
        <translation>{subject} 中没有 GGUF 文件。</translation>
    </message>
    <message>
        <source>Choose the folder in which the .gguf files lie, or one above it.</source>
        <translation>请选择 .gguf 文件所在的文件夹或其上级文件夹。</translation>
    </message>
    <message>
        <source>No model is called {subject}, neither in the catalogue nor on this disk.</source>
        <translation>模型目录和本机磁盘上都没有名为 {subject} 的模型。</translation>
    </message>
    <message>
        <source>See what there is on the Models page, or with: layadesk models list --catalogue</source>
        <translation>可在“模型”页面查看有哪些模型，或运行：layadesk models list --catalogue</translation>
    </message>
    <message>
        <source>{host} does not give {repo} without an access token, and a token is only ever sent to {home}.</source>
        <translation>没有访问令牌，{host} 不提供 {repo}；而令牌只会发送给 {home}。</translation>
    </message>
    <message>
        <source>Leave the mirror empty in the settings (and HF_ENDPOINT unset), accept the conditions at {page}, and resume with your token.</source>
        <translation>请在设置中把下载来源留空（并取消 HF_ENDPOINT），在 {page} 接受条件，然后用你的令牌继续。</translation>
    </message>
    <message>
        <source>{subject} is not among what was left behind in the models folder.</source>
        <translation>{subject} 不在模型文件夹的遗留文件之中。</translation>
    </message>
    <message>
        <source>See what is, on the Models page, or with: layadesk models list --leftovers</source>
        <translation>可在“模型”页面查看遗留文件，或运行：layadesk models list --leftovers</translation>
    </message>
    <message>
        <source>There is no model {subject} on this disk.</source>
        <translation>此磁盘上没有模型 {subject}。</translation>
    </message>
    <message>
        <source>See what is, on the Models page, or with: layadesk models list</source>
        <translation>可在“模型”页面查看有哪些模型，或运行：layadesk models list</translation>
    </message>
</context>
<context>
    <name>findings</name>
    <message>
        <source>Add a model with: layadesk models import FILE.gguf</source>
        <translation>请用以下命令添加模型：layadesk models import FILE.gguf</translation>
    </message>
    <message>
        <source>Allow writing to it, or use --data-dir with another folder.</source>
        <translation>请允许写入，或用 --data-dir 指定其他文件夹。</translation>
    </message>
    <message>
        <source>Experts installed: {n}</source>
        <translation>已安装的专家：{n}</translation>
    </message>
    <message>
        <source>Experts installed: {n}; files missing: {missing}</source>
        <translation>已安装的专家：{n}；缺少文件：{missing}</translation>
    </message>
    <message>
        <source>Free some space: a model takes several GiB.</source>
        <translation>请腾出一些空间：一个模型需要数 GiB。</translation>
    </message>
    <message>
        <source>Installed: {installed}</source>
        <translation>已安装：{installed}</translation>
    </message>
    <message>
        <source>More backends: in use {used}; not in use {unused}</source>
        <translation>其他后端：在用 {used}；未用 {unused}</translation>
    </message>
    <message>
        <source>It computes on: {devices}</source>
        <translation>计算设备：{devices}</translation>
    </message>
    <message>
        <source>It found nothing to compute on: {devices}</source>
        <translation>没有找到可用的计算设备：{devices}</translation>
    </message>
    <message>
        <source>Not installed: {absent}</source>
        <translation>未安装：{absent}</translation>
    </message>
    <message>
        <source>Only {free} are free on the disk of the data folder.</source>
        <translation>数据文件夹所在磁盘仅剩 {free}。</translation>
    </message>
    <message>
        <source>Python {version} on {system}</source>
        <translation>Python {version}，系统 {system}</translation>
    </message>
    <message>
        <source>Python {version} on {system} is not supported.</source>
        <translation>不支持 {system} 上的 Python {version}。</translation>
    </message>
    <message>
        <source>Remove it with: pip uninstall pynvml</source>
        <translation>请运行以下命令移除：pip uninstall pynvml</translation>
    </message>
    <message>
        <source>Run the set-up again, or add a model of your own.</source>
        <translation>请重新运行安装程序，或添加你自己的模型。</translation>
    </message>
    <message>
        <source>Run the set-up again.</source>
        <translation>请重新运行安装程序。</translation>
    </message>
    <message>
        <source>Run the set-up again; it builds llama.cpp for this machine.</source>
        <translation>请重新运行安装程序，它会为这台电脑构建 llama.cpp。</translation>
    </message>
    <message>
        <source>The data folder {path} can be written to.</source>
        <translation>数据文件夹 {path} 可以写入。</translation>
    </message>
    <message>
        <source>The data folder {path} cannot be written to ({detail}).</source>
        <translation>数据文件夹 {path} 无法写入（{detail}）。</translation>
    </message>
    <message>
        <source>The engine does not run: {how}.</source>
        <translation>引擎没有运行：{how}。</translation>
    </message>
    <message>
        <source>The engine runs (llama.cpp: {backend}, self-test {self_test_ms} ms).</source>
        <translation>引擎运行正常（llama.cpp：{backend}，自检 {self_test_ms} ms）。</translation>
    </message>
    <message>
        <source>The old package pynvml is not installed.</source>
        <translation>未安装旧的 pynvml 包。</translation>
    </message>
    <message>
        <source>The old package pynvml {version} stands in the way of nvidia-ml-py.</source>
        <translation>旧的 pynvml {version} 包妨碍了 nvidia-ml-py。</translation>
    </message>
    <message>
        <source>The router does not run: {how}.</source>
        <translation>路由模型没有运行：{how}。</translation>
    </message>
    <message>
        <source>The router runs.</source>
        <translation>路由模型运行正常。</translation>
    </message>
    <message>
        <source>The starter expert is not there.</source>
        <translation>入门专家不在。</translation>
    </message>
    <message>
        <source>The starter expert is there: {path}</source>
        <translation>入门专家已就位：{path}</translation>
    </message>
    <message>
        <source>This build of llama.cpp can use a GPU: {supported}</source>
        <translation>此 llama.cpp 构建能否使用 GPU：{supported}</translation>
    </message>
    <message>
        <source>This build of llama.cpp cannot use the GPU.</source>
        <translation>此 llama.cpp 构建无法使用 GPU。</translation>
    </message>
    <message>
        <source>Use Python 3.11, 3.12 or 3.13.</source>
        <translation>请使用 Python 3.11、3.12 或 3.13。</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>{exit_remedy} Its last words are in engine-native.log.</source>
        <translation>{exit_remedy}其最后的输出见 engine-native.log。</translation>
    </message>
    <message>
        <source>{exit_remedy} The default expert answers meanwhile.</source>
        <translation>{exit_remedy}其间由默认专家回答。</translation>
    </message>
    <message>
        <source>{free} are free on the disk of the data folder.</source>
        <translation>数据文件夹所在磁盘剩余 {free}。</translation>
    </message>
    <message>
        <source>New versions: {updates}</source>
        <translation>新版本：{updates}</translation>
    </message>
    <message>
        <source>{host} was asked for new versions on {day}, in vain: {detail}.</source>
        <translation>{day} 向 {host} 询问新版本未果：{detail}。</translation>
    </message>
    <message>
        <source>It is asked again a day later; the address and the switch are in the settings.</source>
        <translation>一天后会再次询问；地址和开关都在设置中。</translation>
    </message>
    <message>
        <source>nobody is asked, as it is off in the settings</source>
        <translation>设置中已关闭，不向任何人询问</translation>
    </message>
    <message>
        <source>not asked yet</source>
        <translation>尚未询问</translation>
    </message>
    <message>
        <source>{host} was asked on {day}, and has none</source>
        <translation>{day} 询问了 {host}，那里没有任何发布</translation>
    </message>
    <message>
        <source>{host} was asked on {day}; the newest is {version}</source>
        <translation>{day} 询问了 {host}，最新版本是 {version}</translation>
    </message>
</context>
<context>
    <name>gauges</name>
    <message>
        <source>GPU {value}</source>
        <translation>GPU 负载 {value}</translation>
    </message>
    <message>
        <source>memory busy {value}</source>
        <translation>显存繁忙 {value}</translation>
    </message>
    <message>
        <source>pushed out to RAM {value}</source>
        <translation>被挤到内存 {value}</translation>
    </message>
    <message>
        <source>slowed: too hot</source>
        <translation>过热降速</translation>
    </message>
    <message>
        <source>slowed: power brake</source>
        <translation>断电保护降速</translation>
    </message>
    <message>
        <source>slowed by the hardware</source>
        <translation>硬件降速</translation>
    </message>
    <message>
        <source>at its power limit</source>
        <translation>已达功率上限</translation>
    </message>
</context>
<context>
    <name>hint</name>
    <message>
        <source>is loaded first</source>
        <translation>先加载</translation>
    </message>
    <message>
        <source>needs {size}</source>
        <translation>需要 {size}</translation>
    </message>
    <message>
        <source>unloads {names}</source>
        <translation>卸载 {names}</translation>
    </message>
    <message>
        <source>about {time} to load</source>
        <translation>加载约 {time}</translation>
    </message>
    <message>
        <source>→ {name} is loaded, nothing to move</source>
        <translation>→ {name} 已加载，无需移动</translation>
    </message>
    <message>
        <source>The pinned expert {name} is not there; choose another one.</source>
        <translation>固定的专家 {name} 不在，请另选一个。</translation>
    </message>
    <message numerus="yes">
        <source>The router chooses among %n expert(s)</source>
        <translation><numerusform>由路由模型在 %n 个专家中选择</numerusform></translation>
    </message>
    <message>
        <source>There is no expert yet that could answer.</source>
        <translation>还没有可以回答的专家。</translation>
    </message>
    <message>
        <source>Auto may not use remote experts; choose one, or allow it in the settings.</source>
        <translation>“自动”不能使用远程专家；请直接选择一个，或在设置中允许。</translation>
    </message>
    <message>
        <source>may leave this machine → {hosts}</source>
        <translation>可能离开本机 → {hosts}</translation>
    </message>
    <message>
        <source>its server does not answer</source>
        <translation>它的服务器没有回应</translation>
    </message>
</context>
<context>
    <name>kinds</name>
    <message>
        <source>a GGML file, the format before GGUF</source>
        <translation>GGML 文件，即 GGUF 之前的格式</translation>
    </message>
    <message>
        <source>a Git LFS pointer, cloned without Git LFS</source>
        <translation>Git LFS 指针文件（克隆时没有使用 Git LFS）</translation>
    </message>
    <message>
        <source>a JSON file</source>
        <translation>JSON 文件</translation>
    </message>
    <message>
        <source>a LoRA adapter for another model</source>
        <translation>另一个模型的 LoRA 适配器</translation>
    </message>
    <message>
        <source>a PyTorch file</source>
        <translation>PyTorch 文件</translation>
    </message>
    <message>
        <source>a Python pickle, as older PyTorch files are</source>
        <translation>Python pickle 文件（旧式 PyTorch 格式）</translation>
    </message>
    <message>
        <source>a ZIP archive</source>
        <translation>ZIP 压缩包</translation>
    </message>
    <message>
        <source>a control vector for another model</source>
        <translation>另一个模型的控制向量</translation>
    </message>
    <message>
        <source>a diffusion model, which does not write word by word</source>
        <translation>扩散模型，不能逐字生成文本</translation>
    </message>
    <message>
        <source>a draft model, which only guesses ahead for another one</source>
        <translation>草稿模型，只为另一个模型预先猜测</translation>
    </message>
    <message>
        <source>a file of an unknown format</source>
        <translation>格式未知的文件</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>gzip 压缩包</translation>
    </message>
    <message>
        <source>a later part of a split model</source>
        <translation>分卷模型的后续分卷</translation>
    </message>
    <message>
        <source>a model of another kind</source>
        <translation>其他类型的模型</translation>
    </message>
    <message>
        <source>a model that ranks search results</source>
        <translation>用于搜索结果重排的模型</translation>
    </message>
    <message>
        <source>a program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>a safetensors file</source>
        <translation>safetensors 文件</translation>
    </message>
    <message>
        <source>a speech model</source>
        <translation>语音模型</translation>
    </message>
    <message>
        <source>a text file</source>
        <translation>文本文件</translation>
    </message>
    <message>
        <source>a vocabulary without weights</source>
        <translation>没有权重的词表</translation>
    </message>
    <message>
        <source>a web page that was saved in its place</source>
        <translation>被误存为该文件的网页</translation>
    </message>
    <message>
        <source>an HDF5 file</source>
        <translation>HDF5 文件</translation>
    </message>
    <message>
        <source>an embedding model</source>
        <translation>嵌入模型</translation>
    </message>
    <message>
        <source>an encoder-decoder model such as T5</source>
        <translation>T5 一类的编码器—解码器模型</translation>
    </message>
    <message>
        <source>an importance matrix, used to make quantizations</source>
        <translation>制作量化时使用的重要性矩阵</translation>
    </message>
    <message>
        <source>only zeros, as of a download that stopped</source>
        <translation>全是零的文件，像是中断的下载</translation>
    </message>
    <message>
        <source>the eyes or ears of another model (mmproj)</source>
        <translation>另一个模型的视觉或听觉部分（mmproj）</translation>
    </message>
</context>
<context>
    <name>MemoryBills</name>
    <message>
        <source>Memory bills</source>
        <translation>内存账单</translation>
    </message>
</context>
<context>
    <name>MemoryBillCard</name>
    <message>
        <source>predicted</source>
        <translation>预计</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>others</source>
        <translation>其他程序</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>KV cache: {used} of {all} tokens in use, {kept} kept for a next turn</source>
        <translation>KV 缓存：{all} 个 token 中已用 {used}，为下一轮保留 {kept}</translation>
    </message>
</context>
<context>
    <name>memory</name>
    <message numerus="yes">
        <source>MoE experts of %n layer(s) on the CPU</source>
        <translation><numerusform>%n 层的 MoE 专家放在 CPU 上</numerusform></translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>fits tightly</source>
        <translation>勉强放得下</translation>
    </message>
    <message>
        <source>fits in part: some layers stay on the CPU</source>
        <translation>部分放得下：一些层留在 CPU 上</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>cannot be told</source>
        <translation>无法判断</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>eyes or ears (mmproj)</source>
        <translation>多模态投影（mmproj）</translation>
    </message>
    <message>
        <source>overhead</source>
        <translation>开销</translation>
    </message>
    <message>
        <source>margin</source>
        <translation>余量</translation>
    </message>
    <message>
        <source>computed from the model's header</source>
        <translation>根据模型文件头计算</translation>
    </message>
    <message>
        <source>told by llama.cpp for this file</source>
        <translation>由 llama.cpp 就此文件给出</translation>
    </message>
    <message>
        <source>reported by llama.cpp after the load</source>
        <translation>加载后由 llama.cpp 报告</translation>
    </message>
    <message>
        <source>nobody can tell for this kind of model</source>
        <translation>这类模型无法预先得知</translation>
    </message>
    <message>
        <source>fast</source>
        <translation>快</translation>
    </message>
    <message>
        <source>about reading speed</source>
        <translation>约为阅读速度</translation>
    </message>
    <message>
        <source>runs, a few tokens a second, not pleasant</source>
        <translation>能运行，每秒几个 token，不太舒适</translation>
    </message>
    <message>
        <source>very slow, less than two tokens a second</source>
        <translation>很慢，每秒不到两个 token</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>{device}: needs {needed}, free {free}, {reserve} has to stay free</source>
        <translation>{device}：需要 {needed}，空闲 {free}，须保留 {reserve}</translation>
    </message>
    <message>
        <source>most of it for {item}: {size}</source>
        <translation>其中最多的是{item}：{size}</translation>
    </message>
    <message>
        <source>Load as asked</source>
        <translation>按要求加载</translation>
    </message>
    <message>
        <source>Unload {names} first</source>
        <translation>先卸载 {names}</translation>
    </message>
    <message>
        <source>{n} of {all} layers on the GPU</source>
        <translation>{all} 层中的 {n} 层放在 GPU 上</translation>
    </message>
    <message>
        <source>KV cache as {kind}</source>
        <translation>KV 缓存使用 {kind}</translation>
    </message>
    <message>
        <source>A context of {n} tokens</source>
        <translation>上下文为 {n} 个 token</translation>
    </message>
    <message>
        <source>One conversation at a time, {n} tokens</source>
        <translation>一次一个对话，{n} 个 token</translation>
    </message>
    <message>
        <source>On the CPU alone</source>
        <translation>仅用 CPU</translation>
    </message>
    <message>
        <source>Quantization {name}</source>
        <translation>量化 {name}</translation>
    </message>
    <message>
        <source>{name} instead</source>
        <translation>改用 {name}</translation>
    </message>
    <message>
        <source>this llama.cpp was built for the CPU alone</source>
        <translation>这个 llama.cpp 只能用 CPU 计算</translation>
    </message>
    <message>
        <source>llama.cpp found no GPU</source>
        <translation>llama.cpp 没有找到 GPU</translation>
    </message>
    <message>
        <source>llama.cpp put no layer on the GPU</source>
        <translation>llama.cpp 没有把任何一层放到 GPU 上</translation>
    </message>
    <message>
        <source>the other layers stayed on the CPU</source>
        <translation>其余的层留在 CPU 上</translation>
    </message>
    <message>
        <source>layers are reported there, but the VRAM in use has not grown</source>
        <translation>报告说层在 GPU 上，但显存占用没有增加</translation>
    </message>
    <message>
        <source>CPU (asked GPU): {why}</source>
        <translation>CPU（要求用 GPU）：{why}</translation>
    </message>
    <message>
        <source>{n} of {all} layers on the GPU: {why}</source>
        <translation>{all} 层中有 {n} 层在 GPU 上：{why}</translation>
    </message>
    <message>
        <source>In the prediction: {size} that earlier loads took beyond their bill</source>
        <translation>预计中包含以往加载超出账单的 {size}</translation>
    </message>
    <message>
        <source>The MoE experts of the hottest layers on the GPU</source>
        <translation>最热各层的 MoE 专家放到 GPU 上</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>A smaller expert or a shorter context needs less memory.</source>
        <translation>较小的专家或较短的上下文需要的内存更少。</translation>
    </message>
    <message>
        <source>Being written</source>
        <translation>正在生成</translation>
    </message>
    <message>
        <source>Choosing an expert…</source>
        <translation>正在选择专家…</translation>
    </message>
    <message>
        <source>Complete</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>If it happens again, try a shorter context or a smaller expert.</source>
        <translation>如果再次发生，请尝试更短的上下文或较小的专家。</translation>
    </message>
    <message>
        <source>If it happens again, try another expert or fewer GPU layers.</source>
        <translation>如果再次发生，请尝试其他专家或减少 GPU 层数。</translation>
    </message>
    <message>
        <source>Install LayaDesk again, if it happens again.</source>
        <translation>如果再次发生，请重新安装 LayaDesk。</translation>
    </message>
    <message>
        <source>LayaDesk stopped it</source>
        <translation>由 LayaDesk 停止</translation>
    </message>
    <message>
        <source>Loading the expert…</source>
        <translation>正在加载专家…</translation>
    </message>
    <message>
        <source>Nothing has to be done.</source>
        <translation>无需任何操作。</translation>
    </message>
    <message>
        <source>Reading the conversation…</source>
        <translation>正在读取对话…</translation>
    </message>
    <message>
        <source>Run the set-up again; it builds llama.cpp anew for this machine.</source>
        <translation>请重新运行安装程序，它会为这台电脑重新构建 llama.cpp。</translation>
    </message>
    <message>
        <source>The answer was cut off at its length limit.</source>
        <translation>回答达到长度上限，被截断了。</translation>
    </message>
    <message>
        <source>The details say more.</source>
        <translation>详情见日志。</translation>
    </message>
    <message>
        <source>The engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>The program ended before this answer was complete.</source>
        <translation>程序在这条回答完成之前结束了。</translation>
    </message>
    <message>
        <source>The router</source>
        <translation>路由模型</translation>
    </message>
    <message>
        <source>This answer could not be completed.</source>
        <translation>这条回答未能完成。</translation>
    </message>
    <message numerus="yes">
        <source>Waiting, %n request(s) ahead…</source>
        <translation><numerusform>排队中，前面还有 %n 个请求…</numerusform></translation>
    </message>
    <message>
        <source>Waiting, next in line…</source>
        <translation>排队中，下一个就是你…</translation>
    </message>
    <message>
        <source>Windows does not tell it for each program</source>
        <translation>Windows 不提供单个程序的数据</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>正在生成…</translation>
    </message>
    <message>
        <source>You stopped this answer.</source>
        <translation>你停止了这条回答。</translation>
    </message>
    <message>
        <source>Your conversations are kept in memory only and not saved.</source>
        <translation>你的对话目前只在内存中，没有保存。</translation>
    </message>
    <message>
        <source>Your conversations are saved.</source>
        <translation>你的对话已保存。</translation>
    </message>
    <message>
        <source>a container hides it</source>
        <translation>被容器隐藏</translation>
    </message>
    <message>
        <source>an error of its own ended it (exit code {detail})</source>
        <translation>因自身错误而结束（退出码 {detail}）</translation>
    </message>
    <message>
        <source>another expert is pinned</source>
        <translation>已固定其他专家</translation>
    </message>
    <message>
        <source>heavy</source>
        <translation>复杂</translation>
    </message>
    <message>
        <source>it and the program do not speak the same version</source>
        <translation>它与程序的版本不一致</translation>
    </message>
    <message>
        <source>it cannot be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>it crashed in native code ({detail})</source>
        <translation>本机代码崩溃（{detail}）</translation>
    </message>
    <message>
        <source>it did not answer any more and was ended</source>
        <translation>它不再响应，已被结束</translation>
    </message>
    <message>
        <source>it ended by itself</source>
        <translation>它自行结束</translation>
    </message>
    <message>
        <source>it is not running</source>
        <translation>它没有运行</translation>
    </message>
    <message>
        <source>this processor lacks {detail}, which its llama.cpp uses</source>
        <translation>这个处理器缺少它的 llama.cpp 所用的指令：{detail}</translation>
    </message>
    <message>
        <source>Build llama.cpp on this machine: the README says how.</source>
        <translation>请在这台电脑上构建 llama.cpp：方法见 README。</translation>
    </message>
    <message>
        <source>its build of llama.cpp does not run on this machine ({detail})</source>
        <translation>它的 llama.cpp 构建无法在这台电脑上运行（{detail}）</translation>
    </message>
    <message>
        <source>its file is missing</source>
        <translation>模型文件不见了</translation>
    </message>
    <message>
        <source>light</source>
        <translation>简单</translation>
    </message>
    <message>
        <source>medium</source>
        <translation>中等</translation>
    </message>
    <message>
        <source>n/a</source>
        <translation>无数据</translation>
    </message>
    <message>
        <source>n/a, because {why}</source>
        <translation>无数据，因为{why}</translation>
    </message>
    <message>
        <source>no opinion</source>
        <translation>无意见</translation>
    </message>
    <message>
        <source>only expert</source>
        <translation>唯一专家</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>已固定</translation>
    </message>
    <message>
        <source>routed</source>
        <translation>路由选择</translation>
    </message>
    <message>
        <source>router away</source>
        <translation>路由不在</translation>
    </message>
    <message>
        <source>the GPU is asleep</source>
        <translation>GPU 处于休眠状态</translation>
    </message>
    <message>
        <source>the GPU is not there any more</source>
        <translation>GPU 已不在</translation>
    </message>
    <message>
        <source>the driver does not answer</source>
        <translation>驱动程序没有响应</translation>
    </message>
    <message>
        <source>the driver is not there</source>
        <translation>没有驱动程序</translation>
    </message>
    <message>
        <source>the driver reports an impossible value</source>
        <translation>驱动程序报告了不可能的数值</translation>
    </message>
    <message>
        <source>the driver was updated; restart the machine</source>
        <translation>驱动程序已更新，请重启电脑</translation>
    </message>
    <message>
        <source>the engine died while loading it</source>
        <translation>引擎在加载它时崩溃</translation>
    </message>
    <message>
        <source>the limit of this container is shown</source>
        <translation>显示的是容器的上限</translation>
    </message>
    <message>
        <source>the machine was asleep</source>
        <translation>本机曾处于睡眠状态</translation>
    </message>
    <message>
        <source>the only expert there is</source>
        <translation>只有这一个专家</translation>
    </message>
    <message>
        <source>the router chose it</source>
        <translation>由路由模型选择</translation>
    </message>
    <message>
        <source>the router had no opinion, so the default expert answers</source>
        <translation>路由模型没有意见，由默认专家回答</translation>
    </message>
    <message>
        <source>the router is away, so the default expert answers</source>
        <translation>路由模型不在运行，由默认专家回答</translation>
    </message>
    <message>
        <source>the system does not allow reading it</source>
        <translation>系统不允许读取</translation>
    </message>
    <message>
        <source>the system ended it, most likely because memory ran out ({detail})</source>
        <translation>被系统终止，很可能是内存耗尽（{detail}）</translation>
    </message>
    <message>
        <source>there is no GPU that can be read</source>
        <translation>没有可读取的 GPU</translation>
    </message>
    <message>
        <source>LayaDesk does not read Intel GPUs</source>
        <translation>LayaDesk 不读取 Intel GPU 的数据</translation>
    </message>
    <message>
        <source>there is no reading yet</source>
        <translation>还没有读数</translation>
    </message>
    <message>
        <source>this machine does not report it</source>
        <translation>本机不提供此数据</translation>
    </message>
    <message>
        <source>this machine has no swap</source>
        <translation>本机没有交换空间</translation>
    </message>
    <message>
        <source>you chose this expert</source>
        <translation>你指定了这个专家</translation>
    </message>
    <message>
        <source>{text} {sentence}</source>
        <translation>{text}{sentence}</translation>
    </message>
    <message>
        <source>you chose it for this message</source>
        <translation>你为这条消息选了它</translation>
    </message>
    <message>
        <source>a rule of yours names it</source>
        <translation>你的规则指定了它</translation>
    </message>
    <message>
        <source>it answered before, and this message goes on from there</source>
        <translation>之前由它回答，这条消息是接着说的</translation>
    </message>
    <message>
        <source>it answered before, and another would not be enough better</source>
        <translation>之前由它回答，换一个也好不了多少</translation>
    </message>
    <message>
        <source>the router is not sure, so the generalist answers</source>
        <translation>路由器拿不准，由通用专家回答</translation>
    </message>
    <message>
        <source>the better suited expert cannot answer now</source>
        <translation>更合适的专家现在无法回答</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>已选</translation>
    </message>
    <message>
        <source>rule</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>goes on</source>
        <translation>接着答</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>not sure</source>
        <translation>拿不准</translation>
    </message>
    <message>
        <source>runner-up</source>
        <translation>次选</translation>
    </message>
    <message>
        <source>it does not fit into memory</source>
        <translation>内存放不下</translation>
    </message>
    <message>
        <source>its context is too small for this prompt</source>
        <translation>它的上下文装不下这个提示</translation>
    </message>
    <message>
        <source>its server does not answer</source>
        <translation>它的服务器没有回应</translation>
    </message>
    <message>
        <source>no expert is read from a mapped file</source>
        <translation>没有专家是从映射文件读取的</translation>
    </message>
    <message>
        <source>nothing limits it below the machine's own</source>
        <translation>没有低于本机内存的限制</translation>
    </message>
    <message>
        <source>this is the memory of WSL2's virtual machine, not of the PC</source>
        <translation>这是 WSL2 虚拟机的内存，不是整台电脑的</translation>
    </message>
    <message>
        <source>counted by what the engine has mapped</source>
        <translation>按引擎映射的部分计算</translation>
    </message>
    <message>
        <source>only the engine's own share is known</source>
        <translation>只知道引擎自己占用的部分</translation>
    </message>
    <message>
        <source>of the whole chip, processor included</source>
        <translation>整个芯片的，包括处理器</translation>
    </message>
    <message>
        <source>WSL2 has never reported it</source>
        <translation>WSL2 从未报告过该值</translation>
    </message>
    <message>
        <source>this GPU has no memory of its own and works in RAM</source>
        <translation>此 GPU 没有自己的显存，使用内存工作</translation>
    </message>
    <message>
        <source>the driver reports 100 % although nothing is computed</source>
        <translation>没有计算任务，驱动却报告 100 %</translation>
    </message>
    <message>
        <source>it is read only while an expert loads</source>
        <translation>仅在加载专家时读取</translation>
    </message>
    <message>
        <source>Stopped here: the answer only repeated itself.</source>
        <translation>回答只是在重复自己，已在此停止。</translation>
    </message>
    <message>
        <source>the expert chosen first failed while it answered</source>
        <translation>最初选择的专家在回答时出错</translation>
    </message>
    <message>
        <source>took over</source>
        <translation>接替</translation>
    </message>
    <message>
        <source>it is remote, and Auto may not send anything away</source>
        <translation>它是远程专家，而“自动”不允许把内容发送出去</translation>
    </message>
</context>
<context>
    <name>RefusalPanel</name>
    <message>
        <source>{way} · to be downloaded first</source>
        <translation>{way} · 需先下载</translation>
    </message>
    <message>
        <source>Load it anyway</source>
        <translation>仍然加载</translation>
    </message>
</context>
<context>
    <name>SettingRow</name>
    <message>
        <source>Felt {when}.</source>
        <translation>{when}生效。</translation>
    </message>
    <message>
        <source>{name}: back to the default</source>
        <translation>{name}：恢复默认值</translation>
    </message>
    <message>
        <source>First fill in “{needed}”.</source>
        <translation>请先填写“{needed}”。</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Import settings</source>
        <translation>导入设置</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML 文件 (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Import YAML…</source>
        <translation>导入 YAML…</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Search all conversations</source>
        <translation>搜索全部对话</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>输入消息</translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation>停止回答</translation>
    </message>
    <message>
        <source>Conversation before, after</source>
        <translation>上一个、下一个对话</translation>
    </message>
    <message>
        <source>Newest message</source>
        <translation>最新消息</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>切换页面</translation>
    </message>
    <message>
        <source>Machine and route at the right</source>
        <translation>右侧的机器与路由面板</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s) were taken.</source>
        <translation><numerusform>已导入 %n 项设置。</numerusform></translation>
    </message>
    <message>
        <source>Not used here: {keys}.</source>
        <translation>此处不使用：{keys}。</translation>
    </message>
    <message>
        <source>Add these experts yourself: {names}.</source>
        <translation>请自行添加这些专家：{names}。</translation>
    </message>
    <message>
        <source>Rename, delete the conversation in the list, take that back</source>
        <translation>重命名、删除列表中的对话，撤销删除</translation>
    </message>
</context>
<context>
    <name>RoutesPage</name>
    <message>
        <source>Routes</source>
        <translation>路由</translation>
    </message>
    <message>
        <source>Period</source>
        <translation>时间范围</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>最近 7 天</translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation>最近 30 天</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Who answered</source>
        <translation>谁回答了</translation>
    </message>
    <message>
        <source>What was asked</source>
        <translation>问了什么</translation>
    </message>
    <message>
        <source>Answers a day; the strong colour is the most used expert</source>
        <translation>每天的回答数；最醒目的颜色为使用最多的专家</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Who answered what, and why, is counted here after the first answer.</source>
        <translation>有了第一个回答后，这里会统计谁回答了什么以及原因。</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>去提问</translation>
    </message>
    <message>
        <source>The router had no opinion on any of them.</source>
        <translation>路由器对这些请求都没有给出意见。</translation>
    </message>
    <message>
        <source>two weeks ago</source>
        <translation>两周前</translation>
    </message>
    <message>
        <source>today</source>
        <translation>今天</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s), {chosen} of them chosen by the router.</source>
        <translation><numerusform>共 %n 个回答，其中 {chosen} 个由路由器选择。</numerusform></translation>
    </message>
    <message>
        <source>{share} % of your requests went to {name}.</source>
        <translation>{share}% 的请求交给了 {name}。</translation>
    </message>
    <message>
        <source>Most of them were pinned, or there was no other: choose Auto, or add a second expert.</source>
        <translation>其中大多数是固定的，或没有其他专家：请选择“自动”，或再添加一个专家。</translation>
    </message>
    <message>
        <source>If smaller experts would do, lower the confidence to act on, or write a rule, both in Settings.</source>
        <translation>如果较小的专家就够用，请在设置中降低采纳所需的置信度，或编写规则。</translation>
    </message>
    <message>
        <source>Confidence, median</source>
        <translation>置信度中位数</translation>
    </message>
    <message>
        <source>Time to decide, p50 / p95</source>
        <translation>决策用时 p50 / p95</translation>
    </message>
    <message>
        <source>First token, p50 / p95</source>
        <translation>首个 token p50 / p95</translation>
    </message>
    <message>
        <source>Routes you called right</source>
        <translation>你认为正确的路由</translation>
    </message>
    <message>
        <source>Routes you corrected</source>
        <translation>你纠正过的路由</translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>Folder of the models</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Empty: in the data folder. To move the files too, use the Models page.</source>
        <translation>留空：在数据文件夹中。要同时移动文件，请使用“模型”页面。</translation>
    </message>
    <message>
        <source>Where models come from</source>
        <translation>模型来源</translation>
    </message>
    <message>
        <source>Empty: huggingface.co. Or the address of a mirror, or: modelscope.</source>
        <translation>留空：huggingface.co。也可以填镜像地址，或：modelscope。</translation>
    </message>
    <message>
        <source>Proxy for downloads</source>
        <translation>下载代理</translation>
    </message>
    <message>
        <source>As http://host:port or socks5://host:port. Empty: as the system has it.</source>
        <translation>格式为 http://host:port 或 socks5://host:port。留空：使用系统代理。</translation>
    </message>
    <message>
        <source>Downloads at the same time</source>
        <translation>同时下载数</translation>
    </message>
    <message>
        <source>The others wait for their turn.</source>
        <translation>其余的排队等待。</translation>
    </message>
    <message>
        <source>Disk space to leave free</source>
        <translation>保留的磁盘空间</translation>
    </message>
    <message>
        <source>In GiB. A download that would take more does not begin.</source>
        <translation>单位 GiB。会占用更多空间的下载不会开始。</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Notice when a long answer is done</source>
        <translation>长回答完成时通知</translation>
    </message>
    <message>
        <source>With an icon in the tray, while you look at something else.</source>
        <translation>在你查看其他内容时，通过托盘图标通知。</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Of the window.</source>
        <translation>窗口的语言。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Light, dark, or as the system is.</source>
        <translation>浅色、深色，或跟随系统。</translation>
    </message>
    <message>
        <source>Machine and route at the right</source>
        <translation>右侧的机器与路由面板</translation>
    </message>
    <message>
        <source>The panel can be folded away with F9 too.</source>
        <translation>也可以按 F9 收起该面板。</translation>
    </message>
    <message>
        <source>Context length</source>
        <translation>上下文长度</translation>
    </message>
    <message>
        <source>Tokens an expert can see at once. A longer context takes more memory.</source>
        <translation>专家一次能看到的 token 数。上下文越长，占用内存越多。</translation>
    </message>
    <message>
        <source>Layers on the GPU</source>
        <translation>GPU 上的层数</translation>
    </message>
    <message>
        <source>-1 is as many as there are.</source>
        <translation>-1 表示全部。</translation>
    </message>
    <message>
        <source>CPU threads</source>
        <translation>CPU 线程数</translation>
    </message>
    <message>
        <source>0 is one per physical core.</source>
        <translation>0 表示每个物理核心一个。</translation>
    </message>
    <message>
        <source>Answers at the same time</source>
        <translation>同时进行的回答数</translation>
    </message>
    <message>
        <source>They share the context.</source>
        <translation>它们共享上下文。</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 always takes the likeliest token; more is more varied.</source>
        <translation>0 总是选最可能的 token；越大越多样。</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k 采样</translation>
    </message>
    <message>
        <source>Only the k likeliest tokens are considered; 0 is all.</source>
        <translation>只考虑最可能的 k 个 token；0 表示全部。</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p 采样</translation>
    </message>
    <message>
        <source>Only the likeliest tokens that together have this share.</source>
        <translation>只考虑累计概率达到该值的最可能的 token。</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p 采样</translation>
    </message>
    <message>
        <source>Only tokens at least this share as likely as the likeliest one.</source>
        <translation>只考虑概率不低于最大概率该比例的 token。</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Above 1, what was said lately is said less.</source>
        <translation>大于 1 时，减少重复最近说过的内容。</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>最长回答</translation>
    </message>
    <message>
        <source>Tokens at most; 0 is no limit but the context.</source>
        <translation>最多的 token 数；0 表示只受上下文限制。</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示</translation>
    </message>
    <message>
        <source>Told to every expert first. A conversation can have its own.</source>
        <translation>首先告诉每个专家。每个对话可以有自己的系统提示。</translation>
    </message>
    <message>
        <source>Default expert</source>
        <translation>默认专家</translation>
    </message>
    <message>
        <source>Answers where the router has no opinion. Its id; empty is the newest.</source>
        <translation>路由器没有意见时由它回答。填写其 id；留空为最新的专家。</translation>
    </message>
    <message>
        <source>Router</source>
        <translation>路由器</translation>
    </message>
    <message>
        <source>The decision model that reads each message.</source>
        <translation>阅读每条消息的决策模型。</translation>
    </message>
    <message>
        <source>Router deadline (ms)</source>
        <translation>路由器时限（毫秒）</translation>
    </message>
    <message>
        <source>A later answer of the router is not waited for.</source>
        <translation>超过时限的路由结果不再等待。</translation>
    </message>
    <message>
        <source>Router on the GPU</source>
        <translation>路由器使用 GPU</translation>
    </message>
    <message>
        <source>Leaves the CPU free, and takes some of the GPU's memory.</source>
        <translation>释放 CPU，但会占用一些显存。</translation>
    </message>
    <message>
        <source>Confidence to act on</source>
        <translation>采纳所需的置信度</translation>
    </message>
    <message>
        <source>Below it the generalist answers.</source>
        <translation>低于该值时由通用专家回答。</translation>
    </message>
    <message>
        <source>Gain to change for</source>
        <translation>切换所需的增益</translation>
    </message>
    <message>
        <source>An expert stays unless another one is better by this much.</source>
        <translation>除非另一个专家好出这么多，否则不切换。</translation>
    </message>
    <message>
        <source>Rules</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>One a line, as: code → expert-id. They come before the router.</source>
        <translation>每行一条，例如：code → expert-id。规则优先于路由器。</translation>
    </message>
    <message>
        <source>Experts asked</source>
        <translation>询问的专家数</translation>
    </message>
    <message>
        <source>2 asks the runner-up for a draft as well.</source>
        <translation>2 表示也向次优专家要一份草稿。</translation>
    </message>
    <message>
        <source>Two experts for heavy tasks</source>
        <translation>繁重任务使用两个专家</translation>
    </message>
    <message>
        <source>Asks two for heavy mathematics and code only.</source>
        <translation>仅在繁重的数学和代码任务中询问两个。</translation>
    </message>
    <message>
        <source>Join two drafts</source>
        <translation>合并两份草稿</translation>
    </message>
    <message>
        <source>Where two experts are asked, one makes the final answer of both.</source>
        <translation>询问两个专家时，由其中一个综合成最终回答。</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Loading experts</source>
        <translation>加载专家</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>专家</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Follow the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>from the next answer on</source>
        <translation>从下一个回答起</translation>
    </message>
    <message>
        <source>when an expert is loaded the next time</source>
        <translation>下次加载专家时</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>One a line, as: expert-id = off; also on, low, medium, high.</source>
        <translation>每行一条，例如 expert-id = off；也可以是 on、low、medium、high。</translation>
    </message>
    <message>
        <source>Thinking of each expert</source>
        <translation>各专家的思考方式</translation>
    </message>
    <message>
        <source>Tokens of thinking at most; 0 is no limit.</source>
        <translation>思考最多使用的 token 数；0 表示不限。</translation>
    </message>
    <message>
        <source>Longest thinking</source>
        <translation>最长思考</translation>
    </message>
    <message>
        <source>Lets answers wait, and unloads an expert, before the system runs out.</source>
        <translation>在系统内存耗尽之前让回答等待，并卸载专家。</translation>
    </message>
    <message>
        <source>Guard the memory</source>
        <translation>内存保护</translation>
    </message>
    <message>
        <source>Auto may use remote experts</source>
        <translation>“自动”可以使用远程专家</translation>
    </message>
    <message>
        <source>Off: nothing leaves this machine unless you name a remote expert.</source>
        <translation>关闭时：除非您指定某个远程专家，否则任何内容都不会离开本机。</translation>
    </message>
    <message>
        <source>Other programs may ask over HTTP, as they would ask OpenAI.</source>
        <translation>其他程序可以通过 HTTP 提问，就像向 OpenAI 提问一样。</translation>
    </message>
    <message>
        <source>Address of the server</source>
        <translation>服务器的地址</translation>
    </message>
    <message>
        <source>127.0.0.1 is this machine alone; any other needs an API key.</source>
        <translation>127.0.0.1 只限本机；其他任何地址都需要 API 密钥。</translation>
    </message>
    <message>
        <source>Port of the server</source>
        <translation>服务器的端口</translation>
    </message>
    <message>
        <source>The number in its address.</source>
        <translation>地址中的号码。</translation>
    </message>
    <message>
        <source>Web pages that may ask</source>
        <translation>可以提问的网页</translation>
    </message>
    <message>
        <source>Their origins, as http://localhost:3000; without any, none may.</source>
        <translation>它们的来源，例如 http://localhost:3000；不填则任何网页都不可以。</translation>
    </message>
    <message>
        <source>when the server is started the next time</source>
        <translation>下次启动服务器时</translation>
    </message>
    <message>
        <source>Loading of each expert</source>
        <translation>各专家的加载方式</translation>
    </message>
    <message>
        <source>One a line, as: expert-id = n_ctx 4096, type_k q8_0; easier above.</source>
        <translation>每行一个，例如：expert-id = n_ctx 4096, type_k q8_0；在上方更改更方便。</translation>
    </message>
    <message>
        <source>As long as nothing but the starter is there.</source>
        <translation>在只有入门模型的时候。</translation>
    </message>
    <message>
        <source>Suggest models in an empty chat</source>
        <translation>在空白对话中推荐模型</translation>
    </message>
    <message>
        <source>New versions</source>
        <translation>新版本</translation>
    </message>
    <message>
        <source>Tell when there is a new version</source>
        <translation>有新版本时告知</translation>
    </message>
    <message>
        <source>Asks the address below once a day, and sends it nothing but that. Nothing is downloaded.</source>
        <translation>每天向下面的地址询问一次，除此之外不发送任何内容，也不下载任何东西。</translation>
    </message>
    <message>
        <source>Where new versions are announced</source>
        <translation>新版本在哪里发布</translation>
    </message>
    <message>
        <source>The https address of a list of releases, as GitHub has them. Empty: nobody is asked.</source>
        <translation>发布列表的 https 地址，格式与 GitHub 相同。留空则不向任何人询问。</translation>
    </message>
</context>
<context>
    <name>AttachmentBar</name>
    <message>
        <source>{name}, about {n} tokens</source>
        <translation>{name}，约 {n} 个 token</translation>
    </message>
    <message>
        <source>Take {name} away</source>
        <translation>移除 {name}</translation>
    </message>
</context>
<context>
    <name>ChatHeader</name>
    <message>
        <source>System prompt and sampling of this conversation</source>
        <translation>本对话的系统提示和采样</translation>
    </message>
</context>
<context>
    <name>ConversationDialog</name>
    <message>
        <source>This conversation</source>
        <translation>本对话</translation>
    </message>
    <message>
        <source>System prompt of this conversation</source>
        <translation>本对话的系统提示</translation>
    </message>
    <message>
        <source>Empty: the system prompt of the settings</source>
        <translation>留空：使用设置中的系统提示</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>采样</translation>
    </message>
    <message>
        <source>Precise</source>
        <translation>精确</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>平衡</translation>
    </message>
    <message>
        <source>Creative</source>
        <translation>有创意</translation>
    </message>
    <message>
        <source>As in the settings</source>
        <translation>同设置</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Both hold from the next answer on.</source>
        <translation>两者都从下一个回答起生效。</translation>
    </message>
</context>
<context>
    <name>Closing</name>
    <message numerus="yes">
        <source>%n answer(s) are still being written.</source>
        <translation><numerusform>还有 %n 个回答正在生成。</numerusform></translation>
    </message>
    <message>
        <source>What is there so far is kept.</source>
        <translation>已生成的内容会保留。</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>停止并关闭</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>留下</translation>
    </message>
</context>
<context>
    <name>Notices</name>
    <message>
        <source>The answer is complete.</source>
        <translation>回答已完成。</translation>
    </message>
    <message>
        <source>The answer has ended early.</source>
        <translation>回答提前结束。</translation>
    </message>
</context>
<context>
    <name>remote</name>
    <message>
        <source>This address is not encrypted (http): everyone on the way can read your messages and the key. Use https.</source>
        <translation>此地址未加密（http）：沿途的任何人都能读到您的消息和密钥。请使用 https。</translation>
    </message>
    <message>
        <source>The server is a program on this machine.</source>
        <translation>该服务器是本机上的一个程序。</translation>
    </message>
    <message>
        <source>{name} (remote)</source>
        <translation>{name}（远程）</translation>
    </message>
    <message>
        <source>{name} (remote: {host})</source>
        <translation>{name}（远程：{host}）</translation>
    </message>
    <message>
        <source>goes to another program here → {host}</source>
        <translation>发送到本机的另一个程序 → {host}</translation>
    </message>
    <message>
        <source>leaves this machine → {host}</source>
        <translation>将离开本机 → {host}</translation>
    </message>
    <message>
        <source>The key is in the system's keyring.</source>
        <translation>密钥保存在系统密钥环中。</translation>
    </message>
    <message>
        <source>There is no usable keyring, so the key is in {path}, which only you may read.</source>
        <translation>没有可用的密钥环，因此密钥保存在只有您能读取的 {path} 中。</translation>
    </message>
    <message>
        <source>in place of {name}, which failed</source>
        <translation>代替出错的 {name}</translation>
    </message>
</context>
<context>
    <name>CardDetails</name>
    <message>
        <source>Being judged…</source>
        <translation>正在评估…</translation>
    </message>
    <message>
        <source>Chat with it</source>
        <translation>用它聊天</translation>
    </message>
    <message>
        <source>Download, {size}</source>
        <translation>下载，{size}</translation>
    </message>
    <message>
        <source>From {place}. Licence: {licence}.</source>
        <translation>来自 {place}。许可证：{licence}。</translation>
    </message>
    <message>
        <source>I have read the licence and agree to it</source>
        <translation>我已阅读并同意该许可证</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>Read the licence…</source>
        <translation>阅读许可证…</translation>
    </message>
    <message>
        <source>Try again, {size}</source>
        <translation>重试，{size}</translation>
    </message>
    <message>
        <source>Use this router</source>
        <translation>使用这个路由器</translation>
    </message>
</context>
<context>
    <name>CatalogueView</name>
    <message numerus="yes">
        <source>%n model(s)</source>
        <translation><numerusform>%n 个模型</numerusform></translation>
    </message>
    <message>
        <source>No model of the catalogue is like that.</source>
        <translation>目录中没有这样的模型。</translation>
    </message>
    <message>
        <source>Routers</source>
        <translation>路由器</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>The router that came with the program does well; these are larger, and slower without a GPU.</source>
        <translation>随程序附带的路由器已经够用；下面这些更大，没有 GPU 时更慢。</translation>
    </message>
    <message>
        <source>The catalogue is empty. Import model files of your own.</source>
        <translation>目录为空。可以导入你自己的模型文件。</translation>
    </message>
</context>
<context>
    <name>ChatCentre</name>
    <message>
        <source>Add a model file…</source>
        <translation>添加模型文件…</translation>
    </message>
    <message>
        <source>Ask anything: the answer is made on this machine, and nothing leaves it.</source>
        <translation>尽管提问：回答在这台电脑上生成，任何内容都不会离开它。</translation>
    </message>
    <message>
        <source>There is no expert yet that could answer. Add a chat model in a GGUF file.</source>
        <translation>还没有能够回答的专家。请添加一个 GGUF 格式的聊天模型。</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>写一条消息</translation>
    </message>
    <message>
        <source>Ask anything: the line below says who will answer, and where your words go.</source>
        <translation>随便问：下方的一行会说明由谁回答，以及您的话会发送到哪里。</translation>
    </message>
</context>
<context>
    <name>DiskView</name>
    <message>
        <source>Delete {name}, {size}</source>
        <translation>删除 {name}，{size}</translation>
    </message>
    <message>
        <source>Keep the models in another folder…</source>
        <translation>把模型放到另一个文件夹…</translation>
    </message>
    <message>
        <source>Left behind</source>
        <translation>遗留文件</translation>
    </message>
    <message>
        <source>Models are kept in {place}</source>
        <translation>模型存放在 {place}</translation>
    </message>
    <message>
        <source>Move…</source>
        <translation>移动…</translation>
    </message>
    <message>
        <source>Remove {name}…</source>
        <translation>移除 {name}…</translation>
    </message>
    <message>
        <source>There is no model on this disk yet.</source>
        <translation>磁盘上还没有模型。</translation>
    </message>
    <message>
        <source>Unfinished downloads, and model files that are in no list.</source>
        <translation>未完成的下载，以及不在任何列表中的模型文件。</translation>
    </message>
    <message>
        <source>in no list</source>
        <translation>不在列表中</translation>
    </message>
    <message>
        <source>router</source>
        <translation>路由器</translation>
    </message>
    <message>
        <source>unfinished download</source>
        <translation>未完成的下载</translation>
    </message>
    <message>
        <source>{used} in use, {free} free</source>
        <translation>已用 {used}，剩余 {free}</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <source>Chat with it</source>
        <translation>用它聊天</translation>
    </message>
    <message>
        <source>Chat with {name}</source>
        <translation>用 {name} 聊天</translation>
    </message>
    <message>
        <source>Open the page…</source>
        <translation>打开网页…</translation>
    </message>
    <message>
        <source>{name}: cancel and delete what came</source>
        <translation>{name}：取消并删除已下载的部分</translation>
    </message>
    <message>
        <source>{name}: go on</source>
        <translation>{name}：继续</translation>
    </message>
    <message>
        <source>{name}: open the page</source>
        <translation>{name}：打开网页</translation>
    </message>
    <message>
        <source>{name}: pause</source>
        <translation>{name}：暂停</translation>
    </message>
    <message>
        <source>{name}: take off the list</source>
        <translation>{name}：从列表中去掉</translation>
    </message>
</context>
<context>
    <name>DownloadsBar</name>
    <message>
        <source>Downloads</source>
        <translation>下载</translation>
    </message>
    <message numerus="yes">
        <source>Downloads, %n under way</source>
        <translation><numerusform>下载，%n 个进行中</numerusform></translation>
    </message>
</context>
<context>
    <name>FilterBar</name>
    <message>
        <source>Any language</source>
        <translation>任何语言</translation>
    </message>
    <message>
        <source>Any size</source>
        <translation>任何大小</translation>
    </message>
    <message>
        <source>Any task</source>
        <translation>任何任务</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Context: tokens for each conversation, for which fits are judged</source>
        <translation>上下文：每个对话的 token 数，按它评估是否放得下</translation>
    </message>
    <message>
        <source>Fits here</source>
        <translation>这里放得下</translation>
    </message>
    <message>
        <source>Good at</source>
        <translation>擅长</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Up to {size} GiB</source>
        <translation>不超过 {size} GiB</translation>
    </message>
</context>
<context>
    <name>InstalledRow</name>
    <message>
        <source>Chat with it</source>
        <translation>用它聊天</translation>
    </message>
    <message>
        <source>Chat with {name}</source>
        <translation>用 {name} 聊天</translation>
    </message>
    <message>
        <source>Every byte is as it should be.</source>
        <translation>每个字节都正确。</translation>
    </message>
    <message>
        <source>It can be read. What its sum should be, nobody has told.</source>
        <translation>可以读取；没有已知的校验和可供比较。</translation>
    </message>
    <message>
        <source>It is damaged: its sum is another one. Remove it and download it again.</source>
        <translation>文件已损坏：校验和不符。请移除后重新下载。</translation>
    </message>
    <message>
        <source>Reading… {share}</source>
        <translation>正在读取… {share}</translation>
    </message>
    <message>
        <source>Remove {name}…</source>
        <translation>移除 {name}…</translation>
    </message>
    <message>
        <source>The file is not there any more.</source>
        <translation>文件已经不在了。</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>校验</translation>
    </message>
    <message>
        <source>Verify {name}: read all of it and compare its sum</source>
        <translation>校验 {name}：读取全部内容并比较校验和</translation>
    </message>
    <message>
        <source>context up to {n} tokens</source>
        <translation>上下文最多 {n} 个 token</translation>
    </message>
    <message>
        <source>no chat template</source>
        <translation>没有聊天模板</translation>
    </message>
</context>
<context>
    <name>LibraryActions</name>
    <message numerus="yes">
        <source>%n model(s) were added.</source>
        <translation><numerusform>已添加 %n 个模型。</numerusform></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete the file too, {size}</source>
        <translation>连同文件一起删除，{size}</translation>
    </message>
    <message>
        <source>Delete this? It frees {size}.</source>
        <translation>要删除它吗？将释放 {size}。</translation>
    </message>
    <message>
        <source>Import a folder</source>
        <translation>导入文件夹</translation>
    </message>
    <message>
        <source>Import model files</source>
        <translation>导入模型文件</translation>
    </message>
    <message>
        <source>It is off the list; the file was left where it is.</source>
        <translation>已从列表中去掉；文件留在原处。</translation>
    </message>
    <message>
        <source>It routes from the next message on.</source>
        <translation>从下一条消息起由它选择专家。</translation>
    </message>
    <message>
        <source>Keep the models in</source>
        <translation>模型存放到</translation>
    </message>
    <message>
        <source>Models (*.gguf)</source>
        <translation>模型 (*.gguf)</translation>
    </message>
    <message>
        <source>Remove it from this disk? That frees {size}.</source>
        <translation>要从磁盘上移除它吗？将释放 {size}。</translation>
    </message>
    <message>
        <source>Remove, {size}</source>
        <translation>移除，{size}</translation>
    </message>
    <message>
        <source>Take off the list</source>
        <translation>从列表中去掉</translation>
    </message>
    <message>
        <source>The models are kept in {place} now.</source>
        <translation>模型现在存放在 {place}。</translation>
    </message>
    <message>
        <source>This is your own file. Take it off the list and leave it where it is?</source>
        <translation>这是你自己的文件。要从列表中去掉它，并把文件留在原处吗？</translation>
    </message>
    <message>
        <source>{name} was added.</source>
        <translation>已添加 {name}。</translation>
    </message>
    <message>
        <source>{size} came free.</source>
        <translation>已释放 {size}。</translation>
    </message>
</context>
<context>
    <name>LibraryPage</name>
    <message>
        <source>A folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>Catalogue</source>
        <translation>目录</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>导入…</translation>
    </message>
    <message>
        <source>Model files…</source>
        <translation>模型文件…</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>On this disk ({n})</source>
        <translation>磁盘上（{n}）</translation>
    </message>
    <message>
        <source>What suits this machine?</source>
        <translation>什么适合这台电脑？</translation>
    </message>
</context>
<context>
    <name>ModelCardView</name>
    <message>
        <source>installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>router</source>
        <translation>路由器</translation>
    </message>
</context>
<context>
    <name>ModelWays</name>
    <message numerus="yes">
        <source>%n file(s) were not added.</source>
        <translation><numerusform>有 %n 个文件没有添加。</numerusform></translation>
    </message>
</context>
<context>
    <name>QuantizationRow</name>
    <message numerus="yes">
        <source>in %n part(s)</source>
        <translation><numerusform>分为 %n 个文件</numerusform></translation>
    </message>
    <message>
        <source>installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>recommended here: the best that fits</source>
        <translation>推荐：放得下的里面最好的</translation>
    </message>
</context>
<context>
    <name>SuggestionView</name>
    <message>
        <source>Router</source>
        <translation>路由器</translation>
    </message>
    <message>
        <source>already here</source>
        <translation>已经有了</translation>
    </message>
    <message>
        <source>chooses between the experts for each message; it came with the program</source>
        <translation>为每条消息选择专家；随程序附带</translation>
    </message>
    <message>
        <source>router</source>
        <translation>路由器</translation>
    </message>
</context>
<context>
    <name>WelcomePanel</name>
    <message>
        <source>All models</source>
        <translation>所有模型</translation>
    </message>
    <message>
        <source>All of them are here. Ask something: the router chooses who answers.</source>
        <translation>全部就绪。问点什么吧：路由器会选择由谁回答。</translation>
    </message>
    <message>
        <source>Download all, {size}</source>
        <translation>全部下载，{size}</translation>
    </message>
    <message>
        <source>Looking at what this machine can do…</source>
        <translation>正在查看这台电脑的能力…</translation>
    </message>
    <message>
        <source>None of the models in the catalogue fits beside what is in use now. Close other programs, or choose one under All models. The starter answers meanwhile.</source>
        <translation>在当前占用之外，目录中没有放得下的模型。请关闭其他程序，或在“所有模型”中选择一个。在此期间由入门模型回答。</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>以后再说</translation>
    </message>
    <message>
        <source>The starter is tiny and only shows that everything works. These fit into memory together, and the router chooses between them:</source>
        <translation>入门模型很小，只用来说明一切正常。下面这些能一起放进内存，由路由器在它们之间选择：</translation>
    </message>
    <message>
        <source>To download: {download} (free on the disk: {free}). In memory together: {takes}.</source>
        <translation>需下载：{download}（磁盘剩余：{free}）。一起在内存中占用：{takes}。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Welcome to LayaDesk</source>
        <translation>欢迎使用 LayaDesk</translation>
    </message>
    <message>
        <source>{share}, {n} of {all} are here. Ask the starter something meanwhile.</source>
        <translation>{share}，{all} 个中已有 {n} 个。在此期间可以先问入门模型。</translation>
    </message>
</context>
<context>
    <name>_DropHint</name>
    <message>
        <source>Drop model files (GGUF) or a folder here. They stay where they are.</source>
        <translation>把模型文件（GGUF）或文件夹放到这里。它们会留在原处。</translation>
    </message>
</context>
<context>
    <name>library</name>
    <message numerus="yes">
        <source>%n minute(s) left</source>
        <translation><numerusform>还剩 %n 分钟</numerusform></translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>中文</translation>
    </message>
    <message>
        <source>English</source>
        <translation>英语</translation>
    </message>
    <message>
        <source>Nobody has read what this needs; it is told when the file is here.</source>
        <translation>还不知道它需要多少；文件到了以后会告诉你。</translation>
    </message>
    <message>
        <source>asking the hub</source>
        <translation>正在询问模型站</translation>
    </message>
    <message>
        <source>came with the program</source>
        <translation>随程序附带</translation>
    </message>
    <message>
        <source>checking the sum</source>
        <translation>正在核对校验和</translation>
    </message>
    <message>
        <source>downloaded</source>
        <translation>已下载</translation>
    </message>
    <message>
        <source>downloading</source>
        <translation>正在下载</translation>
    </message>
    <message>
        <source>fair: mistakes show in hard tasks</source>
        <translation>尚可：难题上会出错</translation>
    </message>
    <message>
        <source>fast</source>
        <translation>快</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>fits in part</source>
        <translation>部分放得下</translation>
    </message>
    <message>
        <source>fits tightly</source>
        <translation>勉强放得下</translation>
    </message>
    <message>
        <source>fits when others leave</source>
        <translation>其他专家退出后放得下</translation>
    </message>
    <message>
        <source>good: the usual choice</source>
        <translation>良好：通常的选择</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>less than a minute left</source>
        <translation>还剩不到一分钟</translation>
    </message>
    <message>
        <source>made for this size by its maker, close to the original</source>
        <translation>由作者专门为这个大小制作，接近原版</translation>
    </message>
    <message>
        <source>no difference to the original that anyone would notice</source>
        <translation>与原版几乎没有可察觉的差别</translation>
    </message>
    <message>
        <source>no usable GPU: the CPU computes</source>
        <translation>没有可用的 GPU：由 CPU 计算</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>reading speed</source>
        <translation>阅读速度</translation>
    </message>
    <message>
        <source>size unknown</source>
        <translation>大小未知</translation>
    </message>
    <message>
        <source>slow</source>
        <translation>慢</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>the original, nothing taken away</source>
        <translation>原版，没有任何删减</translation>
    </message>
    <message>
        <source>time left unknown</source>
        <translation>剩余时间未知</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>太大</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>very slow</source>
        <translation>很慢</translation>
    </message>
    <message>
        <source>waiting for its turn</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>weak: only where nothing larger fits; a smaller model is often better</source>
        <translation>较弱：只在没有更大的放得下时使用；小一号的模型往往更好</translation>
    </message>
    <message>
        <source>your own file</source>
        <translation>你自己的文件</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done}（共 {total}）</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min left</source>
        <translation>还剩 {hours} 小时 {minutes} 分钟</translation>
    </message>
    <message>
        <source>{name}, up to {size} shared with the RAM</source>
        <translation>{name}，与内存共享，最多 {size}</translation>
    </message>
    <message>
        <source>{size}/s</source>
        <translation>每秒 {size}</translation>
    </message>
    <message>
        <source>from {host}</source>
        <translation>来自 {host}</translation>
    </message>
</context>
<context>
    <name>RemoteDialog</name>
    <message>
        <source>Add a remote expert</source>
        <translation>添加远程专家</translation>
    </message>
    <message>
        <source>Change a remote expert</source>
        <translation>修改远程专家</translation>
    </message>
    <message>
        <source>As the model</source>
        <translation>与模型名相同</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Any; for instance: en, zh</source>
        <translation>任意；例如：en, zh</translation>
    </message>
    <message>
        <source>Guessed from its name; for instance: code, math</source>
        <translation>根据名称推测；例如：code, math</translation>
    </message>
    <message>
        <source>Guessed</source>
        <translation>推测</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>低</translation>
    </message>
    <message>
        <source>Middling</source>
        <translation>中</translation>
    </message>
    <message>
        <source>High</source>
        <translation>高</translation>
    </message>
    <message>
        <source>Asking…</source>
        <translation>正在询问…</translation>
    </message>
    <message>
        <source>As it is; a key stays with its server only</source>
        <translation>保持不变；密钥只用于它原来的服务器</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>API key</source>
        <translation>API 密钥</translation>
    </message>
    <message>
        <source>Name here</source>
        <translation>在此处的名称</translation>
    </message>
    <message>
        <source>Context, tokens</source>
        <translation>上下文（token）</translation>
    </message>
    <message>
        <source>Languages</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Good at</source>
        <translation>擅长</translation>
    </message>
    <message>
        <source>Cost of an answer</source>
        <translation>回答的代价</translation>
    </message>
    <message>
        <source>Test connection</source>
        <translation>测试连接</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>LayaDesk looks every minute whether the server is there.</source>
        <translation>LayaDesk 每分钟检查一次服务器是否在线。</translation>
    </message>
    <message>
        <source>It answers in {time}: {text}</source>
        <translation>它在 {time} 内回答：{text}</translation>
    </message>
    <message>
        <source>It does not list this model; it lists: {names}</source>
        <translation>它没有列出这个模型；它列出的有：{names}</translation>
    </message>
    <message>
        <source>{name} is kept.</source>
        <translation>已保存 {name}。</translation>
    </message>
</context>
<context>
    <name>RemoteRows</name>
    <message>
        <source>Change…</source>
        <translation>修改…</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Change {name}</source>
        <translation>修改 {name}</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>移除 {name}</translation>
    </message>
    <message>
        <source>not looked at yet</source>
        <translation>尚未检查</translation>
    </message>
    <message>
        <source>its server answers</source>
        <translation>它的服务器在线</translation>
    </message>
    <message>
        <source>Remote experts</source>
        <translation>远程专家</translation>
    </message>
    <message>
        <source>Models that run elsewhere, behind an OpenAI-compatible address. What you ask them leaves this machine, and each answer says so.</source>
        <translation>在别处运行、通过 OpenAI 兼容地址访问的模型。您问它们的内容会离开本机，每条回答都会注明。</translation>
    </message>
    <message>
        <source>Add a remote expert…</source>
        <translation>添加远程专家…</translation>
    </message>
    <message>
        <source>{name} and its key are removed.</source>
        <translation>已移除 {name} 及其密钥。</translation>
    </message>
</context>
<context>
    <name>ServerPage</name>
    <message>
        <source>It is on. Programs on this machine can ask.</source>
        <translation>已开启。本机上的程序可以提问。</translation>
    </message>
    <message>
        <source>It is on, and not encrypted. Programs on other machines can ask with the key.</source>
        <translation>已开启，未加密。其他机器上的程序可凭密钥提问。</translation>
    </message>
    <message>
        <source>It is being switched on…</source>
        <translation>正在开启…</translation>
    </message>
    <message>
        <source>It is off. Switched on, other programs can ask here as they would ask OpenAI.</source>
        <translation>已关闭。开启后，其他程序可以像询问 OpenAI 一样在这里提问。</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Switch off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Switch on</source>
        <translation>开启</translation>
    </message>
    <message>
        <source>Use port {port}</source>
        <translation>使用端口 {port}</translation>
    </message>
    <message>
        <source>Make a new key</source>
        <translation>生成新密钥</translation>
    </message>
    <message>
        <source>Ask for no key</source>
        <translation>不要求密钥</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>API key</source>
        <translation>API 密钥</translation>
    </message>
    <message>
        <source>To paste</source>
        <translation>可粘贴的代码</translation>
    </message>
    <message>
        <source>What was asked</source>
        <translation>请求记录</translation>
    </message>
    <message>
        <source>Address for other programs</source>
        <translation>供其他程序使用的地址</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>New API key, shown only now</source>
        <translation>新的 API 密钥，仅此时显示</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation>复制密钥</translation>
    </message>
    <message>
        <source>Copy the key now: it is kept as a hash only and cannot be shown again. The code below reads it from the variable LAYADESK_API_KEY.</source>
        <translation>请立即复制密钥：只保存其哈希值，无法再次显示。下面的代码从环境变量 LAYADESK_API_KEY 读取它。</translation>
    </message>
    <message>
        <source>No key is asked for. Other addresses than this machine's own need one.</source>
        <translation>不要求密钥。本机以外的地址需要密钥。</translation>
    </message>
    <message>
        <source>Programs have to send the key that ends in {tail}. The code below reads it from the variable LAYADESK_API_KEY.</source>
        <translation>程序必须发送以 {tail} 结尾的密钥。下面的代码从环境变量 LAYADESK_API_KEY 读取它。</translation>
    </message>
    <message>
        <source>Nothing yet. Each request stands here with its expert, tokens and time; never what was said.</source>
        <translation>暂无记录。每个请求会显示专家、token 数和时间，绝不显示内容。</translation>
    </message>
    <message>
        <source>Since the start of the program, the newest first; never what was said.</source>
        <translation>自程序启动以来，最新的在前；绝不显示内容。</translation>
    </message>
</context>
<context>
    <name>RequestLog</name>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Client</source>
        <translation>客户端</translation>
    </message>
    <message>
        <source>Path</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>Expert</source>
        <translation>专家</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>token 数</translation>
    </message>
    <message>
        <source>Took</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>SnippetBox</name>
    <message>
        <source>Copy this code</source>
        <translation>复制这段代码</translation>
    </message>
</context>
<context>
    <name>UpdateBanner</name>
    <message>
        <source>LayaDesk {version} is there; this is {running}. {host} was asked, as you wanted.</source>
        <translation>LayaDesk {version} 已发布，当前版本是 {running}。这是按你的设置向 {host} 询问得知的。</translation>
    </message>
    <message>
        <source>Read about it…</source>
        <translation>查看详情…</translation>
    </message>
</context>
<context>
    <name>InsidePage</name>
    <message>
        <source>Answers come somewhat more slowly while this is on.</source>
        <translation>开启时回答会稍慢一些。</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>问点什么</translation>
    </message>
    <message>
        <source>Table…</source>
        <translation>表格…</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Export the counts as CSV</source>
        <translation>将计数导出为 CSV</translation>
    </message>
    <message>
        <source>Export the field as a picture</source>
        <translation>将热图导出为图片</translation>
    </message>
    <message>
        <source>Inside</source>
        <translation>内部</translation>
    </message>
    <message>
        <source>Picture…</source>
        <translation>图片…</translation>
    </message>
    <message>
        <source>This model has MoE experts. The next answer will show them at work.</source>
        <translation>此模型含有 MoE 专家，下一个回答会显示它们的工作情况。</translation>
    </message>
    <message>
        <source>This model has MoE experts: switch watching on, and the next answer shows them at work.</source>
        <translation>此模型含有 MoE 专家：开启观察后，下一个回答会显示它们的工作情况。</translation>
    </message>
    <message>
        <source>Watch MoE experts</source>
        <translation>观察 MoE 专家</translation>
    </message>
    <message>
        <source>Where an answer's time went, and what goes on inside the model, is shown here after an answer.</source>
        <translation>有了回答之后，这里会显示它的时间花在哪里，以及模型内部发生了什么。</translation>
    </message>
    <message>
        <source>Stop watching</source>
        <translation>停止观察</translation>
    </message>
</context>
<context>
    <name>InsideStrip</name>
    <message>
        <source>MoE experts of the last answer</source>
        <translation>上一个回答的 MoE 专家</translation>
    </message>
</context>
<context>
    <name>MoeView</name>
    <message>
        <source>All tasks</source>
        <translation>所有任务</translation>
    </message>
    <message>
        <source>Balance of each layer</source>
        <translation>各层的均衡程度</translation>
    </message>
    <message>
        <source>Busiest</source>
        <translation>最忙</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Entropy</source>
        <translation>熵</translation>
    </message>
    <message>
        <source>Idle</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>Last answer</source>
        <translation>上一个回答</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Layer {layer}, MoE expert {expert}: {share} times the even share.</source>
        <translation>第 {layer} 层，MoE 专家 {expert}：平均份额的 {share} 倍。</translation>
    </message>
    <message>
        <source>Layers from top to bottom, MoE experts from left to right. Pale is idle, full colour {n} times the even share or more. Arrow keys move over the field.</source>
        <translation>从上到下为各层，从左到右为 MoE 专家。浅色为空闲，全色为平均份额的 {n} 倍或更多。用方向键在热图上移动。</translation>
    </message>
    <message>
        <source>MoE experts by layer</source>
        <translation>各层的 MoE 专家</translation>
    </message>
    <message>
        <source>Period</source>
        <translation>时段</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Point at a token to see its MoE experts.</source>
        <translation>指向一个词元即可看到它的 MoE 专家。</translation>
    </message>
    <message>
        <source>Reading and writing</source>
        <translation>读取与生成</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>读取提示词</translation>
    </message>
    <message>
        <source>Since it was loaded</source>
        <translation>自加载以来</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>任务</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Variation</source>
        <translation>变异系数</translation>
    </message>
    <message>
        <source>Which token went where</source>
        <translation>哪个词元去了哪里</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>“{token}” in layer {layer}: MoE experts {experts}. All its layers are outlined above.</source>
        <translation>“{token}”在第 {layer} 层：MoE 专家 {experts}。它在所有层的去向已在上方框出。</translation>
    </message>
</context>
<context>
    <name>TimeCard</name>
    <message>
        <source>A token reads</source>
        <translation>每个词元读取</translation>
    </message>
    <message>
        <source>A token's computing by part</source>
        <translation>一个词元的计算按部分划分</translation>
    </message>
    <message>
        <source>Measure what a token's computing is spent on</source>
        <translation>测量一个词元的计算花在哪里</translation>
    </message>
    <message>
        <source>Measured node by node after {n_past} tokens, which is {slower} times as slow as computing in one piece. The times shown are the shares of {plain}, what a token takes in one piece.</source>
        <translation>在 {n_past} 个词元之后逐节点测量，比整体计算慢到 {slower} 倍。所示时间是按比例分摊的 {plain}，即整体计算一个词元所需的时间。</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>正在测量…</translation>
    </message>
    <message>
        <source>Memory is read at {rates}, so the best possible speed is not known.</source>
        <translation>内存读取速度为 {rates}，因此无法得知可能的最高速度。</translation>
    </message>
    <message>
        <source>Memory is read at {rates}: at best {best} tok/s.</source>
        <translation>内存读取速度为 {rates}：最高每秒 {best} 个词元。</translation>
    </message>
    <message>
        <source>Takes some seconds, in which nobody is answered.</source>
        <translation>需要几秒钟，其间不会回答任何人。</translation>
    </message>
    <message>
        <source>This answer came at {tps} tok/s, {share} of that.</source>
        <translation>此回答为每秒 {tps} 个词元，达到其 {share}。</translation>
    </message>
    <message>
        <source>What this expert reads for a token is not known.</source>
        <translation>不知道此专家每个词元要读取多少。</translation>
    </message>
    <message>
        <source>Where the time of the last answer went</source>
        <translation>上一个回答的时间花在哪里</translation>
    </message>
</context>
<context>
    <name>inside</name>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>Choosing tokens</source>
        <translation>选择词元</translation>
    </message>
    <message>
        <source>Feed-forward</source>
        <translation>前馈</translation>
    </message>
    <message>
        <source>Gate of the MoE experts</source>
        <translation>MoE 专家的门控</translation>
    </message>
    <message>
        <source>Loading the expert</source>
        <translation>加载专家</translation>
    </message>
    <message>
        <source>Looking took {part} of {all} of computing, {share}.</source>
        <translation>观察用去了 {all} 计算时间中的 {part}（{share}）。</translation>
    </message>
    <message>
        <source>MoE experts</source>
        <translation>MoE 专家</translation>
    </message>
    <message>
        <source>On screen</source>
        <translation>显示到屏幕</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Prompt into tokens</source>
        <translation>提示词转为词元</translation>
    </message>
    <message>
        <source>Reading kept cells</source>
        <translation>读取保留的单元</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>读取提示词</translation>
    </message>
    <message>
        <source>Routing</source>
        <translation>路由</translation>
    </message>
    <message>
        <source>Tokens into text</source>
        <translation>词元转为文本</translation>
    </message>
    <message>
        <source>Waiting for a turn</source>
        <translation>排队等待</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>{device}: {weights} of weights, {kv} of KV cache</source>
        <translation>{device}：权重 {weights}，KV 缓存 {kv}</translation>
    </message>
</context>
<context>
    <name>PlaceCard</name>
    <message>
        <source>Hot layers on the GPU</source>
        <translation>热层放到 GPU 上</translation>
    </message>
    <message>
        <source>It leaves memory now, and comes back with the next question.</source>
        <translation>它现在离开内存，下一个问题时再加载回来。</translation>
    </message>
    <message>
        <source>Load it this way</source>
        <translation>这样加载</translation>
    </message>
    <message>
        <source>The MoE experts of layers {layers} read the most from RAM in what was measured. On the GPU they take {size}, {total} there in all, and a token should be {gain} faster by the bytes that are no longer read from RAM. The next answers show it.</source>
        <translation>在测量中，第 {layers} 层的 MoE 专家从内存读取最多。放到 GPU 上占 {size}，GPU 上共 {total}；按不再从内存读取的字节计算，每个词元应快 {gain}。之后的回答会显示结果。</translation>
    </message>
</context>
</TS>
