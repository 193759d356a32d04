<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>ContextWarning</name>
    <message numerus="yes">
        <source>%n older message(s) will be left out: {n_whole} tokens and an answer exceed the context of {n_ctx}.</source>
        <translation><numerusform>%n older message will be left out: {n_whole} tokens and an answer exceed the context of {n_ctx}.</numerusform><numerusform>%n older messages will be left out: {n_whole} tokens and an answer exceed the context of {n_ctx}.</numerusform></translation>
    </message>
</context>
<context>
    <name>DraftsView</name>
    <message numerus="yes">
        <source>%n draft(s) before this answer</source>
        <translation><numerusform>%n draft before this answer</numerusform><numerusform>%n drafts before this answer</numerusform></translation>
    </message>
</context>
<context>
    <name>AnswerView</name>
    <message numerus="yes">
        <source>%n older message(s) were left out, because the conversation is longer than the context.</source>
        <translation><numerusform>%n older message was left out, because the conversation is longer than the context.</numerusform><numerusform>%n older messages were left out, because the conversation is longer than the context.</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation><numerusform>%n token</numerusform><numerusform>%n tokens</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n older message(s) were left out; {n_prompt} tokens were read, and the context holds {n_ctx}.</source>
        <translation><numerusform>%n older message was left out; {n_prompt} tokens were read, and the context holds {n_ctx}.</numerusform><numerusform>%n older messages were left out; {n_prompt} tokens were read, and the context holds {n_ctx}.</numerusform></translation>
    </message>
</context>
<context>
    <name>HealthPage</name>
    <message numerus="yes">
        <source>%n thing(s) stand in the way of an answer.</source>
        <translation><numerusform>%n thing stands in the way of an answer.</numerusform><numerusform>%n things stand in the way of an answer.</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>It works. %n thing(s) could be better.</source>
        <translation><numerusform>It works. %n thing could be better.</numerusform><numerusform>It works. %n things could be better.</numerusform></translation>
    </message>
</context>
<context>
    <name>ListActions</name>
    <message numerus="yes">
        <source>%n record(s) could not be read.</source>
        <translation><numerusform>%n record could not be read.</numerusform><numerusform>%n records could not be read.</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s) came in.</source>
        <translation><numerusform>%n conversation came in.</numerusform><numerusform>%n conversations came in.</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s) were deleted.</source>
        <translation><numerusform>%n conversation was deleted.</numerusform><numerusform>%n conversations were deleted.</numerusform></translation>
    </message>
</context>
<context>
    <name>ResourcePanel</name>
    <message numerus="yes">
        <source>Show the last %n minute(s)</source>
        <translation><numerusform>Show the last %n minute</numerusform><numerusform>Show the last %n minutes</numerusform></translation>
    </message>
</context>
<context>
    <name>StorageBanner</name>
    <message numerus="yes">
        <source>%n change(s) are waiting to be saved.</source>
        <translation><numerusform>%n change is waiting to be saved.</numerusform><numerusform>%n changes are waiting to be saved.</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) are here.</source>
        <translation><numerusform>%n message is here.</numerusform><numerusform>%n messages are here.</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n saved message(s) could not be read; all others are here.</source>
        <translation><numerusform>%n saved message could not be read; all others are here.</numerusform><numerusform>%n saved messages could not be read; all others are here.</numerusform></translation>
    </message>
</context>
<context>
    <name>ThinkingHead</name>
    <message numerus="yes">
        <source>Thinking (%n character(s))</source>
        <translation><numerusform>Thinking (%n character)</numerusform><numerusform>Thinking (%n characters)</numerusform></translation>
    </message>
</context>
<context>
    <name>TimelineView</name>
    <message numerus="yes">
        <source>%n minute(s) ago</source>
        <translation><numerusform>%n minute ago</numerusform><numerusform>%n minutes ago</numerusform></translation>
    </message>
</context>
<context>
    <name>TrashDialog</name>
    <message numerus="yes">
        <source>deleted {day} · %n message(s)</source>
        <translation><numerusform>deleted {day} · %n message</numerusform><numerusform>deleted {day} · %n messages</numerusform></translation>
    </message>
</context>
<context>
    <name>hint</name>
    <message numerus="yes">
        <source>The router chooses among %n expert(s)</source>
        <translation><numerusform>The router chooses among %n expert</numerusform><numerusform>The router chooses among %n experts</numerusform></translation>
    </message>
</context>
<context>
    <name>memory</name>
    <message numerus="yes">
        <source>MoE experts of %n layer(s) on the CPU</source>
        <translation><numerusform>MoE experts of %n layer on the CPU</numerusform><numerusform>MoE experts of %n layers on the CPU</numerusform></translation>
    </message>
</context>
<context>
    <name>words</name>
    <message numerus="yes">
        <source>Waiting, %n request(s) ahead…</source>
        <translation><numerusform>Waiting, %n request ahead…</numerusform><numerusform>Waiting, %n requests ahead…</numerusform></translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message numerus="yes">
        <source>%n setting(s) were taken.</source>
        <translation><numerusform>%n setting was taken.</numerusform><numerusform>%n settings were taken.</numerusform></translation>
    </message>
</context>
<context>
    <name>RoutesPage</name>
    <message numerus="yes">
        <source>%n answer(s), {chosen} of them chosen by the router.</source>
        <translation><numerusform>%n answer, {chosen} of them chosen by the router.</numerusform><numerusform>%n answers, {chosen} of them chosen by the router.</numerusform></translation>
    </message>
</context>
<context>
    <name>Closing</name>
    <message numerus="yes">
        <source>%n answer(s) are still being written.</source>
        <translation><numerusform>%n answer is still being written.</numerusform><numerusform>%n answers are still being written.</numerusform></translation>
    </message>
</context>
<context>
    <name>CatalogueView</name>
    <message numerus="yes">
        <source>%n model(s)</source>
        <translation>
            <numerusform>%n model</numerusform>
            <numerusform>%n models</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DownloadsBar</name>
    <message numerus="yes">
        <source>Downloads, %n under way</source>
        <translation>
            <numerusform>Downloads, %n under way</numerusform>
            <numerusform>Downloads, %n under way</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LibraryActions</name>
    <message numerus="yes">
        <source>%n model(s) were added.</source>
        <translation>
            <numerusform>%n model was added.</numerusform>
            <numerusform>%n models were added.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelWays</name>
    <message numerus="yes">
        <source>%n file(s) were not added.</source>
        <translation>
            <numerusform>%n file was not added.</numerusform>
            <numerusform>%n files were not added.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QuantizationRow</name>
    <message numerus="yes">
        <source>in %n part(s)</source>
        <translation>
            <numerusform>in %n part</numerusform>
            <numerusform>in %n parts</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>library</name>
    <message numerus="yes">
        <source>%n minute(s) left</source>
        <translation>
            <numerusform>%n minute left</numerusform>
            <numerusform>%n minutes left</numerusform>
        </translation>
    </message>
</context>
</TS>
